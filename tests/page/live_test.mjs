// News on an open page: soon, in their story, and without moving what is being read.
import assert from 'node:assert/strict';
import { becomes, session } from './harness.mjs';
import { folders, furnish } from './world.mjs';

const card = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });
const pill = (page) => page.locator('.pill');
const scrolled = (page) => page.evaluate(() => scrollY);
const topOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().top);

await session('live', async (it) => {
  it.folders = folders;
  const names = furnish(it.feeds);
  await it.follow(...names);
  const page = await it.open('/');
  await card(page, 'M4').waitFor();

  const refresh = () => fetch(`${it.program.root}/api/v1/refresh`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });

  await it.check('a new headline joins its story on the open page', async () => {
    it.feeds.publish('kernel', 'Apple reveals M4 Mac Mini');
    await page.keyboard.press('r');
    await card(page, 'M4').locator('.number', { hasText: '(4)' }).waitFor();
    const took = performance.now() - it.feeds.servedAt('kernel');
    console.log(`     ${Math.round(took)} ms after its fetch`);
  });

  await it.check('a new story appears at the top of a page that is at rest', async () => {
    it.feeds.publish('herald', 'Lighthouse keepers of Norway hold their last meeting');
    await refresh();
    await page.locator('article').first().filter({ hasText: 'Lighthouse keepers' }).waitFor();
    const took = performance.now() - it.feeds.servedAt('herald');
    console.log(`     ${Math.round(took)} ms after its fetch`);
    assert.equal(await scrolled(page), 0);
  });

  await it.check('a story does not slip away under the pointer', async () => {
    // The pointer counts as moving for a second: here time stands still after the move.
    await page.evaluate(() => {
      const now = performance.now();
      performance.now = () => now;
    });
    await page.mouse.move(600, 300);
    await page.mouse.move(640, 320);
    it.feeds.publish('circuit', 'Beekeepers of Lyon count their winter losses');
    await refresh();
    await pill(page).waitFor();
    assert.equal(await card(page, 'Beekeepers').count(), 0);
    await page.evaluate(() => delete performance.now);
    await pill(page).click();
    await card(page, 'Beekeepers').waitFor();
    await page.mouse.move(10, 10);
  });

  await it.check('while something is being read, news wait behind a button', async () => {
    await card(page, 'M4').getByRole('button', { name: /other headlines/ }).click();
    await card(page, 'M4').getByRole('listitem').first().waitFor();
    await it.atRest(page);
    const before = await topOf(card(page, 'M4'));
    it.feeds.publish('chronicle', 'Glacier museum opens its doors in Iceland');
    await refresh();
    await pill(page).filter({ hasText: '1 new story' }).waitFor();
    assert.equal(await topOf(card(page, 'M4')), before);
    await it.shot(page, 'news-wait');
    await it.checkAccessible(page, 'news wait');
  });

  await it.check('an expanded story grows in place and stays expanded', async () => {
    const line = card(page, 'M4').getByRole('listitem').first();
    await it.atRest(page);
    const before = await topOf(line);
    it.feeds.publish('quarterly', 'New Mac Mini with M4 chip');
    await refresh();
    await card(page, 'M4').locator('.number', { hasText: '(5)' }).waitFor();
    await becomes(() => card(page, 'M4').getByRole('listitem').count(), 5);
    assert.equal(await topOf(line), before);
  });

  await it.check('the button brings what waited to the top', async () => {
    await pill(page).click();
    await page.locator('article').first().filter({ hasText: /Glacier museum|M4/ }).waitFor();
    await card(page, 'Glacier museum').waitFor();
    await becomes(() => pill(page).count(), 0);
    await becomes(() => scrolled(page), 0);
  });

  await it.check('what is scrolled to stays where it is', async () => {
    await card(page, 'librarian').scrollIntoViewIfNeeded();
    await it.atRest(page);
    const before = await topOf(card(page, 'librarian'));
    it.feeds.publish('herald', 'Orchestra plays on a frozen lake before dawn');
    it.feeds.publish('chronicle', 'Chess champion resigns title to study bees');
    await refresh();
    await pill(page).filter({ hasText: '2 new stories' }).waitFor();
    assert.ok(Math.abs((await topOf(card(page, 'librarian'))) - before) <= 1);
    await pill(page).click();
    await becomes(() => pill(page).count(), 0);
  });

  await it.check('two pages agree: what one marks, the other shows', async () => {
    const other = await it.open('/');
    await card(other, 'typewriter').waitFor();
    await card(other, 'typewriter').hover();
    await card(other, 'typewriter').getByRole('button', { name: 'Mark as read' }).click();
    await page.locator('article.read', { hasText: 'typewriter' }).waitFor();
    await other.close();
  });

  await it.check('stories that are united elsewhere become one here without a jump', async () => {
    const ids = await Promise.all(
      ['Orchestra plays', 'Chess champion'].map((title) => card(page, title).getAttribute('data-story').then(Number)),
    );
    await page.evaluate(() => scrollTo(0, 0));
    await card(page, 'librarian').scrollIntoViewIfNeeded();
    await it.atRest(page);
    const before = await topOf(card(page, 'librarian'));
    await fetch(`${it.program.root}/api/v1/stories/${ids[0]}/unite`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ with: ids[1] }),
    });
    await page.waitForFunction((all) => all.filter((id) => document.getElementById(`story-${id}`)).length === 1, ids);
    assert.ok(Math.abs((await topOf(card(page, 'librarian'))) - before) <= 1);
  });

  await it.check('a story page grows while it is open', async () => {
    await page.evaluate(() => scrollTo(0, 0));
    await card(page, 'M4').locator('a.when').click();
    await page.waitForFunction(() => document.querySelectorAll('ol .item').length === 6);
    it.feeds.publish('herald', 'Apple reveals M4 Mac Mini');
    await refresh();
    await page.waitForFunction(() => document.querySelectorAll('ol .item').length === 7);
    await page.goBack();
    await card(page, 'M4').waitFor();
  });

  await it.check('a lost connection is told, what is there stays, and it comes back by itself', async () => {
    it.expectErrors(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
    await it.program.stop();
    await page.getByText('Reconnecting to Kindred…').waitFor();
    await card(page, 'M4').waitFor();
    await it.shot(page, 'reconnecting');
    await it.program.start();
    await page.getByText('Reconnecting to Kindred…').waitFor({ state: 'detached' });
  });

  await it.check('a browser that is offline says so', async () => {
    it.expectErrors(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
    await page.context().setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await it.shot(page, 'offline');
    await page.context().setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
  });

  await it.check('a page that could not be loaded offers to try again', async () => {
    it.expectErrors(/Failed to load resource|ERR_FAILED/);
    await page.route('**/api/v1/timeline*', (route) => route.abort());
    await page.getByRole('link', { name: 'Starred' }).click();
    await page.getByRole('heading', { name: 'The stories could not be loaded' }).waitFor();
    await it.shot(page, 'error');
    await page.unroute('**/api/v1/timeline*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'No stars yet' }).waitFor();
  });
});
