// A long timeline: it comes by pages, and places in it are kept.
import assert from 'node:assert/strict';
import { becomes, session, until } from './harness.mjs';

const nouns = ['harbour', 'bridge', 'library', 'orchard', 'glacier', 'railway', 'theatre', 'volcano', 'archive', 'market', 'forest', 'canal', 'museum'];
const places = ['Lisbon', 'Oslo', 'Kyoto', 'Lima', 'Accra', 'Riga', 'Quito', 'Hanoi', 'Turin', 'Dakar', 'Perth', 'Minsk'];
const stories = (page) => page.locator('article').count();

await session('long', async (it) => {
  it.feeds.addSite('atlas', 'The Atlas', [60, 90, 60]);
  for (const [row, noun] of nouns.entries()) {
    for (const [column, place] of places.entries()) {
      it.feeds.publish('atlas', `${noun} ${row * 12 + column} of ${place} welcomes ${nouns[(row + column) % 13]} painters`, { minutes: 60 * (row * 12 + column) });
    }
  }
  it.ungrouped = true;
  await it.follow('atlas');
  const page = await it.open('/');
  await page.locator('article').first().waitFor();
  let all = 0;

  await it.check('the next pages come as one scrolls', async () => {
    const { stories: known } = await (await fetch(`${it.program.root}/api/v1/timeline?limit=200`)).json();
    all = known.length;
    assert.ok(all > 100, `${all} stories`);
    assert.ok((await stories(page)) <= 100, 'not everything at once');
    await until('the last page', async () => {
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      return page.getByText('That is all.').isVisible();
    });
    await becomes(() => stories(page), all);
  });

  await it.check('no story is shown twice', async () => {
    const ids = await page.locator('article').evaluateAll((list) => list.map((one) => one.id));
    assert.equal(new Set(ids).size, all);
  });

  await it.check('back from a story returns to the same place', async () => {
    const story = page.locator('article').nth(90);
    await story.scrollIntoViewIfNeeded();
    await story.locator('a.when').hover();
    await it.atRest(page);
    await page.waitForFunction(() => history.state?.scroll === scrollY); // the page has noted its place
    const id = await story.getAttribute('id');
    const place = (await story.boundingBox()).y;
    await story.locator('a.when').click();
    await page.locator('ol .item').first().waitFor();
    await becomes(() => page.evaluate(() => scrollY), 0);
    await page.goBack();
    await page.waitForFunction((wanted) => document.activeElement?.id === wanted, id);
    await it.atRest(page);
    const now = (await page.locator(`#${id}`).boundingBox()).y;
    assert.ok(Math.abs(now - place) < 10, `was at ${place}, is at ${now}`);
  });

  await it.check('the keyboard walks past the end of a page', async () => {
    await page.reload();
    await page.locator('article').first().waitFor();
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press('j');
      await page.waitForFunction((wanted) => [...document.querySelectorAll('article')].indexOf(document.activeElement) === wanted, step);
    }
    await until('the story with focus in view', async () => {
      const box = await page.locator('article:focus').boundingBox();
      return box.y > 56 && box.y + box.height <= 860;
    });
  });
});
