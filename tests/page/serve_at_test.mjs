// `kindred serve --at`: the page has the stories of its own server and the indexes of a router.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { kindred, loaded, session } from './harness.mjs';
import { lines, logs, papers } from './library.mjs';
import { nodeOptions, Server, startNodes } from './nodes.mjs';

const servers = [];
let router;

async function options(folder) {
  servers.push(...(await startNodes(folder, ['node-a', 'node-b'])));
  router = await new Server(path.join(folder, 'router'), 'router', ...nodeOptions(servers)).start();
  servers.push(router);
  return ['--at', `127.0.0.1:${router.port}`];
}

try {
  await session(
    'serve-at',
    async (it) => {
      const run = (...words) => execFileSync(kindred, [...words, '--at', `127.0.0.1:${router.port}`], { stdio: ['ignore', 'ignore', 'inherit'] });
      const page = await it.open('/search');

      await it.check('without an index the page says how to make one there', async () => {
        await page.getByText(`kindred index create papers --at http://127.0.0.1:${router.port}`).waitFor();
      });

      await it.check('the indexes of the router are searched, with reasons and neighbours', async () => {
        const file = path.join(it.folder, 'papers.jsonl');
        fs.writeFileSync(file, lines([...papers, ...logs]));
        run('index', 'create', 'papers', '--embed', 'none');
        run('index', 'add', 'papers', file);
        await page.getByRole('button', { name: 'Look again' }).click();
        await page.getByRole('heading', { name: `${papers.length + logs.length} documents` }).waitFor();
        await page.getByRole('searchbox', { name: 'Search documents' }).fill('tides');
        const hit = page.locator('article').filter({ has: page.locator('h3', { hasText: 'How the moon raises the tides' }) });
        await hit.waitFor();
        await loaded(page);
        await hit.locator('[data-turn=why]').click();
        await hit.locator('[data-turn=neighbours]').click();
        await page.getByRole('group', { name: /^Neighbours of/ }).waitFor();
        await it.atRest(page);
        await it.shot(page, 'serve-at-search');
        await it.checkAccessible(page, 'search');
      });

      await it.check('while the router is away the page says so, and then goes on', async () => {
        it.expectErrors(/502/);
        await router.kill();
        await page.getByRole('searchbox', { name: 'Search documents' }).fill('moon');
        await page.getByText(/does not answer/).first().waitFor();
        await it.shot(page, 'serve-at-away');
        await router.start();
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.locator('article h3', { hasText: 'A mirror on the moon' }).waitFor();
      });

      await it.check('stories are those of this server', async () => {
        await page.getByRole('link', { name: 'All stories' }).click();
        await page.waitForURL((url) => url.pathname === '/');
        assert.equal((await page.request.get(`${it.program.root}/api/v1/timeline`)).status(), 200);
      });
    },
    { options },
  );
} finally {
  for (const server of servers) server.process?.kill('SIGKILL');
}
