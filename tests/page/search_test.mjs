// The search page: results of an index, their display, and navigation between them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { becomes, loaded, session, typed, until } from './harness.mjs';
import { lines, logs, papers } from './library.mjs';

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const field = (page) => page.getByRole('searchbox', { name: 'Search documents' });
const hit = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });
const titles = (page) => page.locator('article h3').allTextContents();
const waitForStatus = (page, pattern) => page.getByText(pattern).first().waitFor();
const facet = (page, name) => page.getByRole('button', { name: new RegExp(`^${name} ?\\d+$`) });
const dialog = (page, title) => page.getByRole('dialog', { name: title });
const drawingIn = (place) => place.getByRole('group', { name: /^Neighbours of/ });
const focusedId = (page) => page.evaluate(() => document.activeElement?.id);

async function ask(page, query) {
  await field(page).fill(query);
  await page.waitForURL((url) => (url.searchParams.get('q') ?? '') === query);
  await loaded(page);
}

/** Waits until the results are those that `wanted` says. */
async function settle(page, wanted) {
  await until('other results', async () => wanted(await titles(page)));
}

await session('search', async (it) => {
  const page = await it.open('/');

  await it.check('without an index the page says how to make one', async () => {
    await page.getByRole('link', { name: 'Search documents' }).click();
    await page.waitForURL(/\/search$/);
    await page.getByText('kindred index create papers').waitFor();
    await page.getByText('kindred index add papers FILE').waitFor();
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByText('There is still none.').waitFor();
    await it.shot(page, 'search-no-index');
    await it.checkAccessible(page, 'no index');
  });

  const file = path.join(it.folder, 'papers.jsonl');
  fs.writeFileSync(file, lines([...papers, ...logs]));
  it.expectErrors(/Failed to load resource|ERR_/);
  await it.program.run('index', 'create', 'papers');
  await it.program.run('index', 'add', 'papers', file);

  await it.check('with an index the field is ready to be typed into', async () => {
    it.expectErrors(/Failed to load resource|ERR_/);
    await page.goto(`${it.program.root}/search`);
    await page.getByRole('heading', { name: `${papers.length + logs.length} documents` }).waitFor();
    await becomes(() => focusedId(page), 'search');
    assert.equal(await page.getByLabel('Index', { exact: true }).count(), 0);
    await it.shot(page, 'search-start');
    await it.checkAccessible(page, 'start');
  });

  await it.check('typing shows results, with what was looked for marked', async () => {
    await page.keyboard.type('tides', { delay: 20 });
    await hit(page, 'How the moon raises the tides').waitFor();
    await waitForStatus(page, /^\d+( of \d+)? results?(, and \d+ near them)? in [\d.]+ ms$/);
    await page.waitForURL(/q=tides/);
    await loaded(page);
    await becomes(() => hit(page, 'How the moon raises the tides').locator('h3 mark').textContent(), 'tides');
    await page.locator('.snippet mark').first().waitFor();
    assert.equal(await focusedId(page), 'search');
    await it.shot(page, 'search-results');
    await it.checkAccessible(page, 'results');
  });

  await it.check('an answer that comes too late is not shown', async () => {
    let release;
    const released = new Promise((done) => (release = done));
    await page.route(/q=whales/, async (route) => {
      await released;
      await route.continue().catch(() => {}); // the page may have given it up
    });
    const isLate = (request) => /q=whales/.test(request.url());
    const over = Promise.race([page.waitForEvent('requestfinished', isLate), page.waitForEvent('requestfailed', isLate)]);
    await field(page).fill('whales');
    await page.waitForURL(/q=whales/);
    await ask(page, 'turtles');
    await hit(page, 'Turtles steer').waitFor();
    release();
    await over;
    await it.atRest(page);
    assert.match((await titles(page))[0], /Turtles steer/);
    await page.unroute(/q=whales/);
  });

  await it.check('a search by text shows no other share, and one by meaning no text', async () => {
    await ask(page, 'moon tides');
    await page.getByText('Text', { exact: true }).click();
    await page.waitForURL(/mode=text/);
    await settle(page, (all) => all.length > 1 && all.every((title) => title));
    await page.waitForFunction(() => !document.querySelector('.shares .vector'));
    await page.waitForFunction(() => document.querySelectorAll('.shares i.text').length > 1);
    await page.getByText('Meaning', { exact: true }).click();
    await page.waitForURL(/mode=vector/);
    await page.waitForFunction(() => document.querySelector('.shares i.vector') && !document.querySelector('.shares i.text'));
    await page.getByText('Hybrid', { exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('mode'));
    await page.waitForFunction(() => document.querySelector('.shares i.vector') && document.querySelector('.shares i.text'));
  });

  await it.check('a search by links shows what a document is linked with, and says if there is none', async () => {
    await page.getByText('Links', { exact: true }).click();
    await ask(page, 'moon');
    await hit(page, 'How the moon raises the tides').waitFor();
    await hit(page, 'A mirror on the moon').waitFor();
    it.expectErrors(/404/);
    await field(page).fill('nowhere');
    await page.locator('#refusal', { hasText: 'nowhere' }).waitFor();
    await page.getByText('Text', { exact: true }).click();
  });

  await it.check('facets narrow with exact counts, chips take them away, and back brings them again', async () => {
    await page.goto(`${it.program.root}/search?mode=text&q=water+breakwater`);
    await facet(page, 'Harbour Office').waitFor();
    const many = Number((await facet(page, 'Harbour Office').textContent()).match(/\d+\s*$/)[0]);
    await facet(page, 'Harbour Office').click();
    await page.waitForURL(/filter=source%3DHarbour\+Office/);
    await waitForStatus(page, new RegExp(`^${many} results? in`));
    await becomes(() => facet(page, 'Harbour Office').getAttribute('aria-pressed'), 'true');
    await hit(page, 'new edition').getByRole('button', { name: 'Only with the tag sea' }).click();
    await page.waitForURL(/filter=tag%3Dsea/);
    await settle(page, (all) => all.length === 2);
    await it.shot(page, 'search-facets');
    await it.checkAccessible(page, 'facets');
    await page.getByRole('list', { name: 'Chosen filters' }).getByRole('button', { name: 'Remove the filter tag: sea' }).click();
    await settle(page, (all) => all.length === 3);
    await page.goBack();
    await settle(page, (all) => all.length === 2);
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.waitForURL((url) => !url.searchParams.has('filter'));
  });

  await it.check('filters alone browse', async () => {
    await page.goto(`${it.program.root}/search?filter=tag%3Danimals`);
    await settle(page, (all) => all.length === 3);
    assert.equal(await page.locator('mark').count(), 0);
  });

  await it.check('an address can be shared, and back and forth go through the searches', async () => {
    await page.goto(`${it.program.root}/search?index=papers&mode=text&q=whales`);
    await settle(page, (all) => all.length === 1 && /whales/.test(all[0]));
    await becomes(() => field(page).inputValue(), 'whales');
    await becomes(() => page.getByLabel('Text', { exact: true }).isChecked(), true);
    await page.getByText('Misspellings').click();
    await page.waitForURL(/fuzzy=1/);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('fuzzy'));
    await becomes(() => page.getByLabel('Misspellings').isChecked(), false);
    await loaded(page);
  });

  await it.check('a query that cannot be read is shown with a caret, and what was found stays', async () => {
    it.expectErrors(/400/);
    await ask(page, 'whales "of the');
    const refusal = page.locator('#refusal pre');
    await refusal.waitFor();
    const [what, query, caret] = (await refusal.textContent()).split('\n');
    assert.match(what, /\w+ \w+/);
    assert.equal(query.trim(), 'whales "of the');
    assert.equal(query[caret.indexOf('^')], '"');
    await becomes(() => field(page).getAttribute('aria-invalid'), 'true');
    assert.equal((await titles(page)).length, 1);
    await it.shot(page, 'search-refused');
    await it.checkAccessible(page, 'refused');
    await ask(page, 'whales');
    await refusal.waitFor({ state: 'detached' });
  });

  await it.check('nothing found offers misspellings, and they find', async () => {
    await ask(page, 'tudes');
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    await it.shot(page, 'search-nothing');
    await page.getByRole('button', { name: 'Allow misspellings' }).click();
    await hit(page, 'How the moon raises the tides').waitFor();
    await becomes(() => page.getByLabel('Misspellings').isChecked(), true);
  });

  await it.check('a day shows what was valid then', async () => {
    await page.goto(`${it.program.root}/search?mode=text&q=tables`);
    await hit(page, 'new edition').waitFor();
    await page.getByLabel('As of').fill('2022-06-01');
    await page.waitForURL(/as_of=2022-06-01/);
    await page.waitForFunction(() => !document.body.textContent.includes('new edition'));
    await hit(page, 'Tide tables for the northern harbours').waitFor();
    await hit(page, 'Tide tables').getByText('valid from').waitFor();
  });

  await it.check('a result says why it matched, and by which link it came in', async () => {
    await page.goto(`${it.program.root}/search?q=crabs+clock`);
    const crabs = hit(page, 'Crabs that know');
    await crabs.getByRole('button', { name: 'Why it matched' }).click();
    const words = crabs.getByRole('list', { name: 'Words that matched' });
    await words.getByText(/^crab/).waitFor();
    await words.getByText(/here, in \d+ documents? of all/).first().waitFor();
    await until('the first row', async () => /^text\s+1\s+[\d.]+\s+\d+%/.test(await crabs.getByRole('row').nth(1).innerText()));
    await it.shot(page, 'search-why');
    await it.checkAccessible(page, 'why it matched');
    await page.goto(`${it.program.root}/search?mode=text&q=crabs`);
    await page.getByLabel('Bring in').selectOption('neighbours');
    const tides = hit(page, 'How the moon raises the tides');
    await tides.getByRole('button', { name: 'Why it matched' }).click();
    await tides.getByText(/It came in as a neighbour, 1 step from a result:\s+crabs cites tides/).waitFor();
  });

  await it.check('neighbours are drawn, and told as a list', async () => {
    await page.goto(`${it.program.root}/search?mode=text&q=raises`);
    const tides = hit(page, 'How the moon raises the tides');
    await tides.getByRole('button', { name: 'Neighbours' }).click();
    const drawing = drawingIn(tides);
    await drawing.waitFor();
    await becomes(() => drawing.getByRole('link').count(), 7);
    const [, links] = (await drawing.locator('desc').textContent()).match(/^6 documents around it, (\d+) links/);
    await until('the name of a link', async () => (await drawing.locator('.tie text', { hasText: 'explains' }).count()) > 0);
    await tides.getByText(`${links} links as a list`).click();
    await becomes(() => tides.locator('details').getByRole('listitem').count(), Number(links));
    await tides.getByRole('listitem').filter({ hasText: /How the moon raises the tides\s+explains\s+The moon is leaving us/ }).waitFor();
    await it.atRest(page);
    const inside = await drawing.evaluate((svg) => {
      const room = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('.label text')].every((text) => {
        const box = text.getBoundingClientRect();
        return box.left >= room.left - 8 && box.right <= room.right + 8 && box.bottom <= room.bottom + 2;
      });
    });
    assert.ok(inside, 'labels are within the drawing');
    await it.shot(page, 'search-neighbours');
    await it.checkAccessible(page, 'neighbours');
  });

  await it.check('the drawing is walked by keyboard: tab to a node, enter opens it, back and escape return', async () => {
    await page.getByRole('button', { name: 'Neighbours' }).first().focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    assert.ok(papers.some(({ title }) => title === name), `a node has focus, not ${name}`);
    await page.keyboard.press('Enter');
    await dialog(page, name).waitFor();
    await page.waitForURL(/doc=/);
    await drawingIn(dialog(page, name)).getByRole('link', { name: 'How the moon raises the tides' }).click();
    await dialog(page, 'How the moon raises the tides').waitFor();
    await page.goBack();
    await dialog(page, name).waitFor();
    await page.keyboard.press('Escape');
    await dialog(page, name).waitFor({ state: 'detached' });
    await page.waitForURL((url) => !url.searchParams.has('doc'));
    await becomes(() => field(page).inputValue(), 'raises');
  });

  await it.check('a document is read whole, with its attributes, links and validity', async () => {
    await page.goto(`${it.program.root}/search?mode=text&q=breakwater`);
    await hit(page, 'new edition').getByRole('link', { name: /new edition/ }).click();
    const open = dialog(page, /new edition/);
    await open.getByText('The old tables are wrong at the new breakwater.').waitFor();
    await open.getByText('valid from 1 Jan 2023').waitFor();
    await becomes(() => open.locator('dd').textContent(), '220');
    await open.locator('.links').getByText('replaces').waitFor();
    await open.locator('.links').getByRole('link', { name: 'Tide tables for the northern harbours' }).waitFor();
    await drawingIn(open).waitFor();
    await it.atRest(page);
    await it.shot(page, 'search-document');
    await it.checkAccessible(page, 'document');
    await open.getByRole('button', { name: 'Close' }).click();
    await open.waitFor({ state: 'detached' });
    await page.waitForURL((url) => !url.searchParams.has('doc'));
  });

  await it.check('the keyboard goes through the results, opens and leaves them', async () => {
    await page.keyboard.press('/');
    await becomes(() => focusedId(page), 'search');
    await ask(page, 'tides');
    await hit(page, 'How the moon raises the tides').waitFor();
    await page.keyboard.press('ArrowDown');
    await becomes(() => focusedId(page), 'hit-0');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await becomes(() => focusedId(page), 'hit-2');
    await page.keyboard.press('k');
    await becomes(() => focusedId(page), 'hit-1');
    await page.keyboard.press('w');
    await page.locator('#hit-1 .why').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.id === 'hit-1');
    await page.keyboard.press('k');
    await page.keyboard.press('ArrowUp');
    await becomes(() => focusedId(page), 'search');
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.searchParams.has('q'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Why it matched').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await typed(page, 'g', 'a');
    await page.waitForURL(`${it.program.root}/`);
    await typed(page, 'g', 'd');
    await page.waitForURL(/\/search/);
    await becomes(() => focusedId(page), 'search');
  });

  await it.check('more results come by a button', async () => {
    await page.goto(`${it.program.root}/search?mode=text&q=lighthouse`);
    await settle(page, (all) => all.length === 20);
    await waitForStatus(page, /^20 of 31 results in/);
    await page.getByRole('button', { name: 'Show more' }).click();
    await settle(page, (all) => all.length === 31);
    await page.getByText('That is all.').waitFor();
  });

  await it.check('markup in documents is shown as text and runs nothing', async () => {
    await page.goto(`${it.program.root}/search?mode=text&q=quotes`);
    await hit(page, '<img src=x onerror=alert(1)> in a title').waitFor();
    await page.getByRole('button', { name: 'Only with the tag <b>bold</b>' }).waitFor();
    await hit(page, 'in a title').getByRole('button', { name: 'Why it matched' }).click();
    await hit(page, 'in a title').getByRole('link').first().click();
    await page.getByRole('dialog').getByText('<script>alert(2)</script>').waitFor();
    assert.equal(await page.getByRole('dialog').getByRole('link', { name: 'javascript:' }).count(), 0);
    assert.equal(await page.locator('main script, main [onerror], main img, main b b').count(), 0);
  });

  await it.check('dark', async () => {
    const dark = await it.open('/search?q=moon+tides', { colorScheme: 'dark' });
    const tides = hit(dark, 'How the moon raises the tides');
    await tides.getByRole('button', { name: 'Neighbours' }).click();
    await drawingIn(tides).waitFor();
    await it.atRest(dark);
    await it.shot(dark, 'search-dark');
    await it.checkAccessible(dark, 'dark');
    await dark.close();
  });

  await it.check('who wants no motion gets none', async () => {
    const still = await it.open('/search?mode=text&q=raises', { reducedMotion: 'reduce' });
    await still.getByRole('button', { name: 'Neighbours' }).click();
    const node = still.locator('svg .node circle').last();
    await node.waitFor();
    await still.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const before = await node.getAttribute('cx');
    for (let frame = 0; frame < 10; frame++) await still.evaluate(() => new Promise(requestAnimationFrame));
    assert.equal(await node.getAttribute('cx'), before);
    await still.close();
  });

  await it.check('a phone has filters in a drawer, nothing wider than the screen, and targets for fingers', async () => {
    const small = await it.open('/search?q=moon+tides', phone);
    await hit(small, 'How the moon raises the tides').waitFor();
    await it.shot(small, 'search-phone');
    assert.ok((await small.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    const tooSmall = await small.locator('button:visible, label:visible').evaluateAll((targets) =>
      targets
        .map((target) => ({ box: target.getBoundingClientRect(), name: target.ariaLabel ?? target.textContent }))
        .filter(({ box }) => box.width < 44 || box.height < 44)
        .map(({ box, name }) => `${name}: ${box.width} × ${box.height}`),
    );
    assert.deepEqual(tooSmall, []);
    await it.checkAccessible(small, 'phone');
    await small.getByRole('button', { name: 'Filters and options' }).tap();
    const drawer = small.getByRole('dialog', { name: 'Filters and options' });
    await facet(drawer, 'physics').tap();
    await small.waitForURL(/filter=tag%3Dphysics/);
    await it.shot(small, 'search-phone-drawer');
    await it.checkAccessible(small, 'filters on a phone');
    await drawer.getByRole('button', { name: 'Close' }).tap();
    await small.getByRole('list', { name: 'Chosen filters' }).waitFor();
    await hit(small, 'How the moon').getByRole('button', { name: 'Neighbours' }).tap();
    await drawingIn(hit(small, 'How the moon')).waitFor();
    await it.atRest(small);
    await it.shot(small, 'search-phone-neighbours');
    await small.setViewportSize({ width: 320, height: 640 });
    await it.atRest(small);
    await small.waitForFunction(() => document.documentElement.scrollWidth <= 320);
    await hit(small, 'How the moon').getByRole('link').first().tap();
    await drawingIn(small.getByRole('dialog')).waitFor();
    await until('a dialog that fits', () => small.getByRole('dialog').evaluate((open) => open.scrollWidth <= open.clientWidth));
    await it.shot(small, 'search-phone-document');
    await small.close();
  });

  await it.check('of several indexes the last one is remembered', async () => {
    it.expectErrors(/Failed to load resource|ERR_/);
    const notes = path.join(it.folder, 'notes.jsonl');
    fs.writeFileSync(notes, lines([{ id: 'n1', title: 'Tides of paper', text: 'A note.' }]));
    await it.program.run('index', 'create', 'notes');
    await it.program.run('index', 'add', 'notes', notes);
    await page.goto(`${it.program.root}/search?index=papers&q=tides`);
    await page.getByLabel('Index', { exact: true }).selectOption('notes');
    await page.waitForURL(/index=notes/);
    await hit(page, 'Tides of paper').waitFor();
    await page.goto(`${it.program.root}/search`);
    await page.getByRole('heading', { name: '1 document' }).waitFor();
    await becomes(() => page.getByLabel('Index', { exact: true }).inputValue(), 'notes');
    await page.goto(`${it.program.root}/search?index=gone`);
    await page.getByRole('heading', { name: 'There is no index “gone”' }).waitFor();
  });
});
