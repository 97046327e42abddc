// Actions of a reader: follow, read, correct, search, by mouse and by keyboard.
import assert from 'node:assert/strict';
import { becomes, loaded, marked, session, typed, until } from './harness.mjs';
import { furnish } from './world.mjs';

const card = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });
// The text as it is in the document: an article off the screen is not rendered, and its inner text is empty.
const titleIn = (text) => text.replace(/^Unread: /, '');
const titles = (page) => page.locator('article h3').allTextContents().then((all) => all.map(titleIn));
const toast = (page, text) => page.locator('.toast', { hasText: text }).waitFor();
const focused = (page) =>
  page.evaluate(() => document.activeElement?.closest('article')?.querySelector('h3')?.textContent ?? '').then(titleIn);

await session('reading', async (it) => {
  const names = furnish(it.feeds);
  const page = await it.open('/');

  await it.check('a Kindred without feeds invites to follow one', async () => {
    await page.getByRole('heading', { name: 'Every feed in one timeline' }).waitFor();
    await it.shot(page, 'empty');
    await it.checkAccessible(page, 'empty');
  });

  await it.check('an address that is no feed is answered in plain words', async () => {
    it.expectErrors(/Failed to load resource/);
    await page.getByLabel('Address of a feed or a site').fill(`${it.feeds.root}/nowhere/`);
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('alert').filter({ hasText: /\w+ \w+/ }).waitFor();
  });

  await it.check('following a site by its address shows its headlines', async () => {
    await page.getByLabel('Address of a feed or a site').fill(`${it.feeds.root}/circuit/`);
    await page.getByRole('button', { name: 'Follow' }).click();
    await card(page, 'Apple announces M4 chips for Mac').waitFor();
  });

  await it.check('a feed is added in the dialog, with a folder', async () => {
    await page.getByRole('button', { name: 'Add a feed' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a feed' });
    await dialog.getByLabel('Address').fill(it.feeds.feed('gadget'));
    await dialog.getByLabel('Folder').fill('Tech');
    await it.shot(page, 'add-feed');
    await it.checkAccessible(page, 'add a feed');
    await dialog.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('heading', { level: 1, name: 'Gadget Daily' }).waitFor();
    await page.getByRole('link', { name: 'Tech', exact: true }).waitFor();
  });

  await it.check('an OPML file dropped on the page brings its feeds', async () => {
    const outlines = names.map((name) => `<outline type="rss" text="${name}" xmlUrl="${it.feeds.feed(name)}"/>`);
    const opml = `<opml version="2.0"><body>${outlines.join('')}</body></opml>`;
    await page.getByRole('link', { name: 'All stories' }).click();
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], 'feeds.opml', { type: 'text/x-opml' }));
      return data;
    }, opml);
    await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer });
    await page.getByText('Drop the OPML file').waitFor();
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await toast(page, '6 feeds added. 2 followed already.');
    await card(page, 'Faster file locking').waitFor();
  });

  await it.check('four headlines on one event are one story, under days', async () => {
    await card(page, 'M4').locator('.number', { hasText: '(3)' }).waitFor();
    await page.reload();
    await card(page, 'M4').waitFor();
    assert.equal((await titles(page)).filter((title) => title.includes('M4')).length, 1);
    await becomes(() => page.locator('main h2').first().textContent(), 'Today');
    await becomes(() => page.locator('main h2').nth(1).textContent(), 'Yesterday');
  });

  const fold = card(page, 'M4').getByRole('button', { name: '3 other headlines' });

  await it.check('the fold expands in place and collapses again', async () => {
    await becomes(() => fold.getAttribute('aria-expanded'), 'false');
    await fold.click();
    await becomes(() => fold.getAttribute('aria-expanded'), 'true');
    const list = card(page, 'M4').getByRole('list', { name: 'Other headlines' });
    await becomes(() => list.getByRole('listitem').count(), 3);
    await it.checkAccessible(page, 'expanded');
    await fold.click();
    await list.waitFor({ state: 'detached' });
  });

  await it.check('opening a headline marks its story read, also after a reload', async () => {
    await fold.click();
    const link = card(page, 'M4').getByRole('list').getByRole('link').first();
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
    assert.equal(await link.getAttribute('target'), '_blank');
    const [original] = await Promise.all([page.context().waitForEvent('page'), marked(page, () => link.click())]);
    await original.close();
    await page.locator('article.read', { hasText: 'M4' }).waitFor();
    await page.reload();
    await page.locator('article.read', { hasText: 'M4' }).waitFor();
  });

  await it.check('"not this story" parts a headline off, and undo brings it back', async () => {
    await card(page, 'M4').getByRole('button', { name: /other headlines/ }).click();
    const line = card(page, 'M4').getByRole('listitem').filter({ hasText: 'New Mac Mini with M4 chip' });
    await line.hover();
    await line.getByRole('button', { name: 'Not this story' }).click();
    await toast(page, 'a story of its own');
    await page.locator('h3', { hasText: 'New Mac Mini with M4 chip' }).waitFor();
    await card(page, 'M4').first().locator('.number', { hasText: '(2)' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await becomes(() => card(page, 'M4').count(), 1);
    await card(page, 'M4').locator('.number', { hasText: '(3)' }).waitFor();
  });

  await it.check('"same story" unites two stories that are chosen', async () => {
    const first = card(page, 'tiny e-paper phone');
    await first.hover();
    await first.getByRole('button', { name: 'Same story as…' }).click();
    await page.getByText('Choose the story that is the same as').waitFor();
    await it.shot(page, 'same-story');
    await page.keyboard.press('Escape');
    await page.getByText('Choose the story that is the same as').waitFor({ state: 'detached' });
    await first.hover();
    await first.getByRole('button', { name: 'Same story as…' }).click();
    await page.getByRole('button', { name: 'Same story as “Faster file locking' }).click();
    await toast(page, 'These are one story now.');
    await page.reload();
    const united = page.locator('article', { has: page.getByRole('button', { name: 'One other headline' }) });
    await united.filter({ hasText: /tiny e-paper phone|Faster file locking/ }).waitFor();
  });

  await it.check('hiding takes a story away, undo brings it back', async () => {
    await page.locator('body').click({ position: { x: 1270, y: 400 } });
    await card(page, 'spaces cannot be cut').hover();
    await card(page, 'spaces cannot be cut').getByRole('button', { name: 'Hide' }).click();
    await card(page, 'spaces cannot be cut').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await card(page, 'spaces cannot be cut').waitFor();
  });

  await it.check('search narrows the list as one types, and the way back clears it', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('typewriter');
    await page.waitForURL(/q=typewriter/);
    await until('the story of the typewriter alone', async () => /^[^\n]*typewriter[^\n]*$/.test((await titles(page)).join('\n')));
    await page.getByLabel('Search stories').fill('zeppelin');
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    await it.shot(page, 'nothing-found');
    await page.goBack();
    await card(page, 'M4').waitFor();
    await becomes(() => page.getByLabel('Search stories').inputValue(), '');
  });

  await it.check('the keyboard alone reads the timeline', async () => {
    await page.goto(it.program.root);
    await card(page, 'M4').waitFor();
    const order = await titles(page);
    await page.keyboard.press('j');
    await becomes(() => focused(page), order[0]);
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('o');
    await page.locator('article.selected .others').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('article.selected .others').waitFor({ state: 'detached' });
    await page.keyboard.press('m');
    await page.locator('article.selected:not(.read)').waitFor();
    await page.keyboard.press('s');
    await page.locator('article.selected [aria-label="Remove star"]').waitFor();
    const [original] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('v')]);
    await original.close();
    await page.locator('article.selected.read').waitFor();
    await page.keyboard.press('j');
    await becomes(() => focused(page), order[1]);
    await page.keyboard.press('h');
    await toast(page, 'Story hidden.');
    await becomes(() => focused(page), order[2]);
    await page.keyboard.press('z');
    await becomes(() => focused(page), order[1]);
  });

  await it.check('the keyboard goes to places and shows its help', async () => {
    await typed(page, 'g', 's');
    await page.waitForURL(/starred=1/);
    await page.waitForFunction(() => document.querySelectorAll('article').length === 1);
    await typed(page, 'g', 'u');
    await page.waitForURL(/unread=1/);
    await typed(page, 'g', 'a');
    await page.waitForURL((url) => url.search === '');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await it.shot(page, 'help');
    await it.checkAccessible(page, 'help');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  await it.check('letters typed into a field are letters', async () => {
    const before = page.url();
    await page.getByLabel('Search stories').focus();
    await page.keyboard.type('?');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.getByLabel('Search stories').fill('');
    await page.waitForURL(before);
    await loaded(page);
  });

  await it.check('a story has a page with all its sources in time order, and back returns to it', async () => {
    await card(page, 'M4').locator('a.when').click();
    await page.waitForURL(/\/story\/\d+/);
    const lines = page.getByRole('list', { name: 'All headlines' }).locator('.words');
    await page.waitForFunction(() => document.querySelectorAll('ol .item').length === 4);
    const all = await lines.allTextContents();
    assert.match(all[0], /Apple announces M4 chips for Mac/);
    assert.match(all[3], /M4 Mac Mini announced/);
    await becomes(() => page.evaluate(() => document.activeElement?.tagName), 'H1');
    await it.checkAccessible(page, 'story page');
    await page.goBack();
    await card(page, 'M4').waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent?.includes('M4'));
  });

  await it.check('feeds are renamed, put into folders and left ungrouped', async () => {
    await page.getByRole('link', { name: 'Manage feeds' }).click();
    await page.getByRole('button', { name: 'Settings of kernel' }).click();
    await page.getByLabel('Name', { exact: true }).fill('The Kernel');
    await page.getByLabel('Folder', { exact: true }).fill('Work');
    await page.getByLabel('Group its headlines').uncheck();
    await it.shot(page, 'feeds');
    await it.checkAccessible(page, 'feeds');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Work' }).getByRole('link', { name: 'The Kernel' }).waitFor();
    await page.getByText('not grouped').waitFor();
  });

  await it.check('the list of feeds is exported as OPML', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export OPML' }).click()]);
    assert.equal(download.suggestedFilename(), 'kindred.opml');
  });

  await it.check('a feed is removed after a question', async () => {
    await page.getByRole('button', { name: 'Remove The Kernel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await becomes(() => page.evaluate(() => document.activeElement?.ariaLabel), 'Remove The Kernel');
    await page.getByRole('button', { name: 'Remove The Kernel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await toast(page, '“The Kernel” was removed.');
    await page.getByRole('button', { name: 'Remove The Kernel' }).waitFor({ state: 'detached' });
  });

  await it.check('a feed and a folder filter the timeline', async () => {
    await page.getByRole('navigation').getByRole('link', { name: /^Tech/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Tech' }).waitFor();
    await page.waitForURL(/folder=Tech/);
    await page.getByRole('navigation').getByRole('link', { name: /quarterly/ }).click();
    await page.getByRole('heading', { level: 1, name: 'quarterly' }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll('article').length === 2);
  });

  await it.check('all is marked as read after a question, and "unread" says so', async () => {
    await page.goto(it.program.root);
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mark all as read' }).click();
    await toast(page, 'marked as read');
    await page.getByRole('link', { name: /^Unread/ }).click();
    await page.getByRole('heading', { name: 'All read' }).waitFor();
    await it.shot(page, 'all-read');
  });
});
