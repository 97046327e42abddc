// The look of the page: both themes, phone width, print; pictures of each are kept.
import assert from 'node:assert/strict';
import { becomes, loaded, session } from './harness.mjs';
import { folders, furnish } from './world.mjs';

const card = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });
const paper = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

await session('look', async (it) => {
  it.folders = folders;
  const names = furnish(it.feeds);
  await it.follow(...names);
  const page = await it.open('/');
  await card(page, 'M4').locator('.number').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('article img').length > 0);

  await it.check('light, as the system has it', async () => {
    await becomes(() => paper(page), 'rgb(253, 252, 250)');
    await it.shot(page, 'light');
    await it.checkAccessible(page, 'light');
  });

  await it.check('dark, as the system has it', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await becomes(() => paper(page), 'rgb(22, 21, 19)');
    await card(page, 'M4').getByRole('button', { name: /other headlines/ }).click();
    await card(page, 'M4').getByRole('listitem').first().waitFor();
    await it.shot(page, 'dark');
    await it.checkAccessible(page, 'dark');
  });

  await it.check('a theme that was chosen outlasts the system and a reload', async () => {
    await page.getByTitle('Light colours').click();
    await becomes(() => paper(page), 'rgb(253, 252, 250)');
    await page.reload();
    await card(page, 'M4').waitFor();
    await becomes(() => paper(page), 'rgb(253, 252, 250)');
    await page.getByTitle('Dark colours').click();
    await page.emulateMedia({ colorScheme: 'light' });
    await becomes(() => paper(page), 'rgb(22, 21, 19)');
    await page.getByTitle('Colours as the system').click();
    await becomes(() => paper(page), 'rgb(253, 252, 250)');
  });

  await it.check('an expanded story and its own page', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.locator('.others').waitFor();
    await it.shot(page, 'expanded');
    await page.locator('.others a.page').click();
    await page.waitForFunction(() => document.querySelectorAll('ol .item').length === 4);
    await it.shot(page, 'story');
    await page.emulateMedia({ colorScheme: 'dark' });
    await it.shot(page, 'story-dark');
    await it.checkAccessible(page, 'story page, dark');
    await page.goto(`${it.program.root}/feeds`);
    await page.getByRole('button', { name: 'Add a feed' }).first().waitFor();
    await it.shot(page, 'feeds-dark');
    await it.checkAccessible(page, 'feeds, dark');
  });

  await it.check('a phone shows one column, nothing wider than the screen, and targets for fingers', async () => {
    const small = await it.open('/', phone);
    await card(small, 'M4').waitFor();
    await it.shot(small, 'phone');
    await card(small, 'M4').getByRole('button', { name: /other headlines/ }).tap();
    await small.locator('.others').waitFor();
    await it.shot(small, 'phone-expanded');
    assert.ok((await small.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    const tooSmall = await small.locator('button:visible').evaluateAll((buttons) =>
      buttons
        .map((button) => ({ box: button.getBoundingClientRect(), name: button.ariaLabel ?? button.textContent }))
        .filter(({ box }) => box.width < 44 || box.height < 44)
        .map(({ box, name }) => `${name}: ${box.width} × ${box.height}`),
    );
    assert.deepEqual(tooSmall, []);
    await it.checkAccessible(small, 'phone');
    await small.close();
  });

  await it.check('a phone has the feeds in a drawer and the actions in a menu', async () => {
    const small = await it.open('/', { ...phone, colorScheme: 'dark' });
    await card(small, 'M4').waitFor();
    await small.getByRole('button', { name: 'Feeds and views' }).tap();
    const drawer = small.getByRole('dialog', { name: 'Feeds and views' });
    await drawer.waitFor();
    await it.shot(small, 'phone-drawer');
    await it.checkAccessible(small, 'drawer');
    await drawer.getByRole('link', { name: /^Unread/ }).tap();
    await drawer.waitFor({ state: 'detached' });
    await small.waitForURL(/unread=1/);
    await loaded(small);
    await card(small, 'spaces cannot').getByRole('button', { name: 'More about this story' }).tap();
    await small.getByRole('menuitem', { name: 'Mark as read' }).waitFor();
    await it.shot(small, 'phone-menu');
    await small.getByRole('menuitem', { name: 'Mark as read' }).tap();
    await small.locator('article.read', { hasText: 'spaces cannot' }).waitFor();
    await small.goto(`${it.program.root}/feeds`);
    await small.getByRole('button', { name: 'Import OPML' }).waitFor();
    await it.shot(small, 'phone-feeds');
    assert.ok((await small.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    await small.close();
  });

  await it.check('on paper there are stories and no buttons', async () => {
    await page.goto(it.program.root);
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    await card(page, 'M4').waitFor();
    await becomes(() => page.getByRole('button', { name: 'Refresh feeds' }).isVisible(), false);
    assert.equal(await card(page, 'M4').isVisible(), true);
  });
});
