// The page of a router: its nodes, what they hold, what it says when one of them is away, and the search in its indexes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { becomes, kindred, loaded, session, typed } from './harness.mjs';
import { lines, papers } from './library.mjs';
import { nodeOptions, startNodes } from './nodes.mjs';

const token = '0123456789abcdef0123456789abcdef';
const nodes = [];

const hit = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });

function write(folder, name, text) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}

async function options(folder) {
  nodes.push(...(await startNodes(folder, ['node-a', 'node-b'])));
  // So slow that a copy can be looked at.
  return ['--token-file', write(folder, 'token', `${token}\n`), '--move-rate', '150', '--move-grace', '0', ...nodeOptions(nodes)];
}

try {
  await session(
    'shards',
    async (it) => {
      const at = ['--at', `127.0.0.1:${it.program.port}`, '--at-token-file', path.join(it.folder, 'token')];
      const run = (...words) => execFileSync(kindred, [...words, ...at], { stdio: ['ignore', 'ignore', 'inherit'] });
      const page = await it.open('/');

      await it.check('the page asks for the token', async () => {
        it.expectErrors(/401/);
        await page.getByLabel('Token').fill(token);
        await page.keyboard.press('Enter');
        await page.getByText('There are no indexes yet').waitFor();
        await page.getByText(`kindred index create NAME --at 127.0.0.1:${it.program.port}`).waitFor();
        await it.shot(page, 'shards-none');
        await it.checkAccessible(page, 'no indexes');
      });

      await it.check('an index appears by itself, with what each node holds', async () => {
        const documents = Array.from({ length: 200 }, (_, i) => JSON.stringify({ id: `d${i}`, title: `Tide ${i}`, text: 'harbour' }));
        const file = write(it.folder, 'papers.jsonl', documents.join('\n'));
        run('index', 'create', 'papers', '--embed', 'none', '--partitions', '16');
        run('index', 'add', 'papers', file);
        await page.getByText('200 documents · 16 partitions · epoch 1').waitFor();
        await page.getByText('1 index on 2 nodes; all of them answer').waitFor();
        const held = await page.locator('tbody tr td:nth-child(2)').allTextContents();
        assert.equal(held.map(Number).reduce((a, b) => a + b), 200);
        assert.equal(await page.locator('tbody svg rect').count(), 16);
        assert.equal(await page.getByRole('img', { name: /^8 partitions, the largest with \d+ documents$/ }).count(), 2);
        await it.shot(page, 'shards');
        await it.checkAccessible(page, 'shards');
      });

      await it.check('partitions are shaded by size or by the work they make', async () => {
        run('search', 'papers', 'harbour');
        await page.getByText('By load', { exact: true }).click();
        await page.getByRole('img', { name: /^8 partitions, the busiest with [\d.]+ ms of work a second$/ }).first().waitFor();
        await page.locator('rect title', { hasText: /documents?, [\d.]+ ms of work a second$/ }).first().waitFor({ state: 'attached' });
        assert.match((await page.locator('tbody tr td:nth-child(8)').first().textContent()).trim(), /^[\d.]+ ms\/s$/);
        await it.shot(page, 'shards-load');
        await it.checkAccessible(page, 'shaded by load');
        await page.getByText('By size', { exact: true }).click();
      });

      await it.check('partitions on their way are shown with phase, rate and time left, and told when they have arrived', async () => {
        const address = (node) => `127.0.0.1:${node.port}`;
        run('shards', 'move', 'papers', '0', '1', '--to', address(nodes[1]));
        await page.getByRole('heading', { name: 'Moves' }).waitFor();
        await page.locator('li', { hasText: 'Partition 0:' }).waitFor();
        await page.getByText(/documents · .* · [\d.,]+ [KM]?B\/s · \d+ s left/).first().waitFor();
        await page.getByRole('progressbar', { name: 'Copy of partition 0' }).waitFor();
        await it.shot(page, 'shards-moving');
        await it.checkAccessible(page, 'moves');
        await page.getByText('All moves are over').waitFor();
        await page.getByRole('img', { name: /^6 partitions/ }).waitFor();
        run('shards', 'move', 'papers', '0', '1', '--to', address(nodes[0]), '--wait');
        await page.getByRole('img', { name: /^6 partitions/ }).waitFor({ state: 'detached' });
        await it.shot(page, 'shards-moved');
      });

      await it.check('a node that is killed is named, and its partitions are not known', async () => {
        await nodes[1].kill();
        const address = `127.0.0.1:${nodes[1].port}`;
        await page.getByText(`${address} does not answer`, { exact: true }).waitFor();
        await page.getByRole('cell', { name: `the node at ${address} does not answer` }).waitFor();
        await page.getByText('documents on the nodes that answer').waitFor();
        assert.equal(await page.locator('rect.unknown').count(), 8);
        await it.shot(page, 'shards-away');
        await it.checkAccessible(page, 'a node is away');
      });

      await it.check('it is shown as soon as it is back', async () => {
        await nodes[1].start();
        await page.getByText('1 index on 2 nodes; all of them answer').waitFor();
        await page.getByText('200 documents · 16 partitions').waitFor();
      });

      await it.check('its indexes can be searched there, by the keyboard alone', async () => {
        const file = write(it.folder, 'library.jsonl', lines(papers));
        run('index', 'create', 'library', '--embed', 'none', '--partitions', '8');
        run('index', 'add', 'library', file);
        await typed(page, 'g', 'd');
        await page.waitForURL(/\/search$/);
        await becomes(() => page.evaluate(() => document.activeElement?.id), 'search');
        await page.getByLabel('Index', { exact: true }).selectOption('library');
        await page.getByRole('heading', { name: `${papers.length} documents` }).waitFor();
        await it.shot(page, 'router-search-start');
        await it.checkAccessible(page, 'search, start');
        await page.getByRole('searchbox', { name: 'Search documents' }).fill('tides');
        await hit(page, 'How the moon raises the tides').waitFor();
        await loaded(page);
        await page.locator('.snippet mark').first().waitFor();
        await it.shot(page, 'router-search');
        await it.checkAccessible(page, 'search, results');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('w');
        await page.getByText(/occurrence|times|once/).first().waitFor();
        await page.keyboard.press('o');
        const read = page.getByRole('dialog', { name: 'Spring tides and neap tides' });  // the first hit
        await read.getByRole('group', { name: /^Neighbours of/ }).waitFor();
        await it.atRest(page);
        await it.shot(page, 'router-search-document');
        await it.checkAccessible(page, 'search, a document');
        await page.keyboard.press('Escape');
        await read.waitFor({ state: 'detached' });
        await page.keyboard.press('?');
        const help = page.getByRole('dialog', { name: 'Keyboard' });
        await help.getByText('Go to the shards').waitFor();
        await page.keyboard.press('Escape');
        await help.waitFor({ state: 'detached' });
        await typed(page, 'g', 's');
        await page.getByRole('heading', { name: 'Shards', exact: true }).waitFor();
        await becomes(() => page.evaluate(() => document.activeElement?.tagName), 'H1');
        assert.equal(await page.getByRole('link', { name: 'Shards', exact: true }).getAttribute('aria-current'), 'page');
      });

      await it.check('a link to a search opens it, once the token is given', async () => {
        it.expectErrors(/401/);
        const other = await it.open('/search?index=library&q=tides');
        await other.getByLabel('Token').fill(token);
        await other.keyboard.press('Enter');
        await hit(other, 'How the moon raises the tides').waitFor();
      });

      await it.check('on a phone the table scrolls and the page does not', async () => {
        await page.setViewportSize({ width: 390, height: 844 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false);
        await it.shot(page, 'shards-phone');
        await page.getByRole('link', { name: 'Search documents' }).click();
        await page.getByRole('searchbox', { name: 'Search documents' }).fill('tides');
        await hit(page, 'How the moon raises the tides').waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        await it.shot(page, 'router-search-phone');
        await it.checkAccessible(page, 'search on a phone');
      });

      await it.check('an unknown address shows the page, with status 404', async () => {
        const response = await page.request.get(`${it.program.root}/nowhere`, { headers: { Accept: 'text/html' } });
        assert.equal(response.status(), 404);
        assert.match(await response.text(), /Shards/);
      });
    },
    { verb: 'router', options },
  );
} finally {
  for (const node of nodes) node.process?.kill('SIGKILL');
}
