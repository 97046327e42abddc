// News are never lost: stories that were read or hidden come back, and marks take only what was shown.
import assert from 'node:assert/strict';
import { becomes, hold, loaded, marked, session, typed, until } from './harness.mjs';
import { folders, furnish } from './world.mjs';

const card = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });
const toast = (page, text) => page.locator('.toast', { hasText: text }).waitFor();
const first = (page) => page.locator('article').first();

await session('news', async (it) => {
  it.folders = folders;
  await it.follow(...furnish(it.feeds));
  const page = await it.open('/');
  await card(page, 'North Sea').waitFor();
  const asked = async (path) => (await fetch(`${it.program.root}/api/v1${path}`)).json();
  const refresh = () => fetch(`${it.program.root}/api/v1/refresh`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
  /** Waits for a story. News wait behind the button if the pointer moved just now; else the button is gone at once. */
  const comes = (story) =>
    until(`${story}`, async () => {
      await page.locator('.pill').evaluateAll(([pill]) => pill?.click());
      return (await story.count()) > 0;
    });

  await it.check('a read story comes back with its new headline, at the top', async () => {
    const storm = card(page, 'North Sea');
    await storm.hover();
    await marked(page, () => storm.getByRole('button', { name: 'Mark as read' }).click());
    await page.locator('article.read', { hasText: 'North Sea' }).waitFor();
    await page.keyboard.press('Escape');
    it.feeds.publish('quarterly', 'Storm closes ports along the North Sea coast, thousands leave', { minutes: 40 });
    await refresh();
    // The headline is dated forty minutes ago; the story is lifted all the same.
    await comes(first(page).filter({ hasText: '1 new since you read it' }));
    await becomes(() => first(page).locator('h3').textContent(), 'Unread: Storm closes ports along the North Sea coast, thousands leave');
    assert.equal(await first(page).evaluate((element) => element.classList.contains('read')), false);
    await it.shot(page, 'news-of-a-read-story');
    await it.checkAccessible(page, 'news of a read story');
    await first(page).getByRole('button', { name: /other headlines/ }).click();
    await becomes(() => first(page).getByRole('listitem').count(), 2);
    assert.equal(await first(page).locator('.new').count(), 0, 'the new headline leads, the others were seen');
    await page.reload();
    await first(page).filter({ hasText: '1 new since you read it' }).waitFor();
  });

  await it.check('while something is selected, news of a read story wait behind the button', async () => {
    const rates = card(page, 'nterest rates');
    await rates.hover();
    await marked(page, () => rates.getByRole('button', { name: 'Mark as read' }).click());
    await page.locator('article.read', { hasText: 'nterest rates' }).waitFor();
    await card(page, 'typewriter').click({ position: { x: 5, y: 5 } });
    it.feeds.publish('circuit', 'Central bank leaves interest rates unchanged again');
    await refresh();
    await page.locator('.pill', { hasText: 'news in 1 story' }).click();
    await first(page).filter({ hasText: 'nterest rates' }).filter({ hasText: '1 new since you read it' }).waitFor();
  });

  await it.check('all is marked as read, but for what was not shown yet, and undo brings it back', async () => {
    await page.goto(`${it.program.root}/?unread=1`);
    await card(page, 'North Sea').waitFor();
    const before = await page.locator('article').count();
    await card(page, 'typewriter').click({ position: { x: 5, y: 5 } }); // something is being read, so news wait
    it.feeds.publish('herald', 'Lighthouse keepers of Norway hold their last meeting');
    await refresh();
    await page.locator('.pill', { hasText: '1 new story' }).waitFor();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mark all as read' }).click();
    await toast(page, `${before} stories marked as read.`);
    await page.locator('.pill', { hasText: '1 new story' }).click();
    await card(page, 'Lighthouse keepers').and(page.locator(':not(.read)')).waitFor();
    await it.shot(page, 'marked-with-undo');
    await page.getByRole('button', { name: 'Undo' }).click();
    await toast(page, `${before} stories are unread again.`);
    await becomes(() => page.locator('article:not(.read)').count(), before + 1);
  });

  await it.check('hidden stories have a view, from which they can be shown again', async () => {
    await page.goto(it.program.root);
    await card(page, 'spaces cannot be cut').hover();
    await card(page, 'spaces cannot be cut').getByRole('button', { name: 'Hide' }).click();
    await toast(page, 'Story hidden.');
    await typed(page, 'g', 'h');
    await page.getByRole('heading', { level: 1, name: 'Hidden' }).waitFor();
    await card(page, 'spaces cannot be cut').waitFor();
    await becomes(() => page.locator('article').count(), 1);
    await it.shot(page, 'hidden');
    await it.checkAccessible(page, 'hidden stories');
    await page.keyboard.press('j');
    await page.keyboard.press('h');
    await toast(page, 'The story is shown again.');
    await page.getByRole('heading', { name: 'Nothing is hidden' }).waitFor();
    await page.keyboard.press('z');
    await card(page, 'spaces cannot be cut').waitFor();
  });

  await it.check('news bring a hidden story back', async () => {
    it.feeds.publish('silicon', 'Some spaces cannot be cut: a proof, a century in the making');
    await refresh();
    await page.getByRole('link', { name: 'All stories' }).click();
    await comes(card(page, 'spaces cannot be cut').filter({ hasText: '1 new since you read it' }));
    await page.getByRole('link', { name: 'Hidden' }).click();
    await page.getByRole('heading', { name: 'Nothing is hidden' }).waitFor();
  });

  await it.check('news that come while a list is being loaded are shown in it', async () => {
    const list = await hold(page, 'GET', /timeline\?limit=50$/, { answered: true });
    await page.getByRole('link', { name: 'All stories' }).click();
    await list.caught();
    it.feeds.publish('orchard', 'Carpenters rebuild a windmill from old drawings');
    await refresh();
    await until('the windmill', async () => (await asked('/timeline?q=windmill')).stories.length === 1);
    // The page has heard of it when it counts it.
    const { unread } = await asked('/timeline?limit=1');
    await becomes(async () => parseInt(await page.getByRole('link', { name: /^Unread/ }).locator('.count').textContent()), unread);
    list.release();
    await comes(card(page, 'windmill'));
  });

  await it.check('a story is not hidden with news that were not shown', async () => {
    const hiding = await hold(page, 'PATCH', /stories\/\d+$/);
    await card(page, 'fruit fly').hover();
    await card(page, 'fruit fly').getByRole('button', { name: 'Hide' }).click();
    await hiding.caught();
    it.feeds.publish('herald', 'Researchers map the whole wiring of a fruit fly brain');
    await refresh();
    await until('the fly', async () => (await asked('/timeline?q=wiring')).stories[0]?.count === 2);
    hiding.release();
    await toast(page, 'Not hidden: there is news of it.');
    await card(page, 'fruit fly').filter({ hasText: '1 new since you read it' }).waitFor();
  });

  await it.check('an answer from before a story was hidden does not bring it back', async () => {
    await page.goto(it.program.root);
    await card(page, 'typewriter').click({ position: { x: 5, y: 5 } }); // something is being read, so news wait
    await card(page, 'typewriter').locator('.others').waitFor();
    const list = await hold(page, 'GET', /timeline\?limit=50$/, { answered: true });
    it.feeds.publish('gadget', 'Postal museum lends its oldest bicycle');
    await refresh();
    await list.caught();
    await card(page, 'Telescope').hover();
    await card(page, 'Telescope').getByRole('button', { name: 'Hide' }).click();
    await toast(page, 'Story hidden.');
    list.release();
    await page.locator('.pill', { hasText: '1 new story' }).click();
    await card(page, 'oldest bicycle').waitFor();
    assert.equal(await card(page, 'Telescope').count(), 0);
  });

  await it.check('a feed\u2019s page leads with the headline of that feed', async () => {
    await page.getByRole('navigation').getByRole('link', { name: /Morning Herald/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Morning Herald' }).waitFor();
    await card(page, 'Storm closes ports along the North Sea coast as thousands leave their homes').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: /The Chronicle/ }).click();
    await card(page, 'North Sea storm closes ports, thousands leave their homes along the coast').waitFor();
    await it.shot(page, 'feed-page');
    // News must not change it to another feed's headline.
    it.feeds.publish('circuit', 'North Sea storm: ports stay closed, thousands leave their homes');
    await refresh();
    await card(page, 'North Sea storm closes ports').locator('.number', { hasText: '(3)' }).waitFor();
  });

  await it.check('a story\u2019s page links to stories on the same subject', async () => {
    it.feeds.publish('gadget', 'Why North Sea warnings came late for the ports: an interview', { minutes: 200 });
    await refresh();
    const found = async () => (await (await fetch(`${it.program.root}/api/v1/timeline?q=interview`)).json()).stories[0];
    await until('the interview', async () => (await found()) !== undefined);
    const { id, count, representative } = await found();
    // It is a separate story here, even if the grouper joined it to another.
    const item = [representative, ...(await found()).others].find(({ title }) => title.includes('interview'));
    if (count > 1) await fetch(`${it.program.root}/api/v1/items/${item.id}/separate`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
    assert.ok(id > 0);
  });

  await it.check('"reported it first" is true of the one that has it', async () => {
    await card(page, 'North Sea storm closes ports').locator('a.when').click();
    await page.waitForFunction(() => document.querySelectorAll('ol .item').length === 4);
    const claims = page.locator('.words', { hasText: 'Reported it first' });
    await becomes(() => claims.count(), 1);
    assert.match(await claims.textContent(), /as thousands leave their homes/);
    const more = page.getByRole('region', { name: 'More on this: one related story' });
    await more.waitFor();
    await it.shot(page, 'story-page');
    await it.checkAccessible(page, 'story page with news');
    await page.goBack();
  });

  await it.check('news that come while a story\u2019s page is being loaded are shown on it', async () => {
    await page.goto(it.program.root);
    await card(page, 'City council').waitFor();
    const story = await hold(page, 'GET', /stories\/\d+$/, { answered: true });
    await card(page, 'City council').locator('a.when').click();
    await story.caught();
    // The page has heard of the news when it asks for the timeline again.
    const heard = page.waitForResponse((response) => /timeline\?limit=50$/.test(response.url()));
    it.feeds.publish('chronicle', 'City council votes for a centre without cars, by one vote');
    await refresh();
    await heard;
    story.release();
    await becomes(() => page.locator('ol .item').count(), 2);
    await page.goBack();
  });

  await it.check('a search says where it looks, marks what matched and can look everywhere', async () => {
    await page.goto(`${it.program.root}/?starred=1`);
    await page.getByLabel('Search stories').fill('the storm');
    await page.getByRole('heading', { level: 1, name: '“the storm” in Starred' }).waitFor();
    await page.getByText('No story in Starred has “the storm”').waitFor();
    await page.getByRole('link', { name: 'Search all stories' }).first().click();
    await page.getByRole('heading', { level: 1, name: '“the storm” in All stories' }).waitFor();
    await page.getByText('One story found in All stories').first().waitFor();
    assert.deepEqual(await page.locator('article h3 mark').allTextContents(), ['storm']);
    await it.shot(page, 'search-marks');
    await it.checkAccessible(page, 'search');
    await page.getByLabel('Search stories').fill('the of');
    await page.getByText('only very common words').waitFor();
    assert.equal(await page.locator('mark').count(), 0);
  });

  await it.check('a feed with starred stories is removed after asking about them', async () => {
    await page.goto(it.program.root);
    await card(page, 'librarian').hover();
    await marked(page, () => card(page, 'librarian').getByRole('button', { name: 'Star', exact: true }).click());
    await card(page, 'librarian').getByRole('button', { name: 'Remove star' }).waitFor();
    await page.goto(`${it.program.root}/feeds`);
    await page.getByRole('button', { name: 'Remove Kernel Letter' }).click();
    await page.getByText('One starred story has headlines of it: keep them?').waitFor();
    await it.shot(page, 'remove-starred');
    await it.checkAccessible(page, 'remove a feed with starred stories');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove, keep starred' }).click();
    await toast(page, 'was removed.');
    await page.getByRole('link', { name: 'Starred' }).click();
    await card(page, 'librarian').locator('.source', { hasText: 'Kernel Letter' }).waitFor();
  });

  await it.check('the dial says how tightly headlines are grouped, by the keyboard too', async () => {
    await page.getByRole('link', { name: 'Manage feeds' }).click();
    const dial = page.getByRole('slider', { name: 'How headlines become stories' });
    await becomes(() => dial.inputValue(), '10');
    await dial.focus();
    await page.keyboard.press('Home');
    await toast(page, 'Tight: more and purer stories');
    await it.shot(page, 'dial');
    await it.checkAccessible(page, 'the dial');
    await page.reload();
    await becomes(() => page.getByRole('slider', { name: 'How headlines become stories' }).inputValue(), '0');
    const settings = await (await fetch(`${it.program.root}/api/v1/settings`)).json();
    assert.equal(settings.dial, 0);
  });

  await it.check('names from right to left stay apart from what is beside them', async () => {
    it.feeds.addSite('hebrew', 'חדשות (היום)');
    it.feeds.publish('hebrew', 'ראש העיר נבחר מחדש');
    await it.follow('hebrew');
    await page.goto(it.program.root);
    const story = card(page, 'ראש העיר');
    await becomes(() => story.locator('.source bdi').textContent(), 'חדשות (היום)');
    assert.equal(await story.locator('h3 a').getAttribute('dir'), 'auto');
    await it.shot(page, 'right-to-left');
  });

  await it.check('an unknown address shows a page', async () => {
    it.expectErrors(/404/);
    const response = await page.goto(`${it.program.root}/nowhere/at/all`);
    assert.equal(response.status(), 404);
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
    await page.getByRole('link', { name: 'All stories' }).first().click();
    await loaded(page);
    await until('stories', async () => (await page.locator('article').count()) > 0);
  });
});
