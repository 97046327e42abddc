// The page of a router: its nodes, what they hold, and what it says when one of them is away.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { kindred, session, until } from './harness.mjs';

const token = '0123456789abcdef0123456789abcdef';
const nodes = [];

function write(folder, name, text) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}

class Node {
  constructor(folder) {
    this.folder = folder;
    this.port = 0;
  }

  async start() {
    const portFile = path.join(this.folder, 'port');
    fs.mkdirSync(this.folder, { recursive: true });
    fs.rmSync(portFile, { force: true });
    const options = ['--data', path.join(this.folder, 'data'), '--listen', `127.0.0.1:${this.port}`, '--port-file', portFile];
    this.process = spawn(kindred, ['node', ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
    this.ended = new Promise((end) => this.process.once('exit', end));
    await until('a node', () => fs.existsSync(portFile));
    this.port = Number(fs.readFileSync(portFile, 'utf8'));
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}

async function options(folder) {
  for (const name of ['node-a', 'node-b']) {
    nodes.push(new Node(path.join(folder, name)));
    await nodes.at(-1).start();
  }
  return ['--token-file', write(folder, 'token', `${token}\n`), ...nodes.flatMap(({ port }) => ['--node', `127.0.0.1:${port}`])];
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

      await it.check('on a phone the table scrolls and the page does not', async () => {
        await page.setViewportSize({ width: 390, height: 844 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false);
        await it.shot(page, 'shards-phone');
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
