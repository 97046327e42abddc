// Checks the page's types (web/src/api/types.ts) against the server's answers. Each answer becomes a constant of the
// type that the page takes it for, and the TypeScript compiler checks them: a field that is missing, has another type or is
// not known to the page is an error.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { session } from './harness.mjs';
import { lines, logs, papers } from './library.mjs';
import { folders, furnish } from './world.mjs';

const web = fileURLToPath(new URL('../../web', import.meta.url));
const ts = createRequire(path.join(web, 'package.json'))('typescript');

/** What the compiler says about a file of TypeScript. */
function complaintsAbout(file) {
  const { config } = ts.readConfigFile(path.join(web, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: [], noUnusedLocals: false }, web);
  const program = ts.createProgram([file], options);
  return ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, '\n'));
}

// Accepts connections and never answers, so that a poll of its feed lasts until close().
async function startSilentServer() {
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}/feed`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

await session('types', async (it) => {
  const recorded = []; // [type, answer]
  const ask = async (type, request, init = {}) => {
    const response = await fetch(`${it.program.root}/api/v1${request}`, {
      headers: { 'Content-Type': init.type ?? 'application/json' },
      ...init,
    });
    assert.ok(response.ok, `${request}: ${response.status}`);
    const answer = await response.json();
    recorded.push([type, answer]);
    return answer;
  };
  const send = (type, method, request, body) => ask(type, request, { method, body: JSON.stringify(body) });

  await it.check('feeds and stories are recorded', async () => {
    it.folders = folders;
    const [last, ...names] = furnish(it.feeds).reverse();
    await it.follow(...names);
    await send('{ feed: Feed }', 'POST', '/feeds', { url: it.feeds.feed(last) });
    const { stories } = await ask('TimelinePage', '/timeline');
    const { next } = await ask('TimelinePage', '/timeline?limit=2');
    assert.equal(typeof next, 'string');
    await ask('TimelinePage', '/timeline?starred=1');
    const grouped = stories.find(({ others }) => others.length > 1);
    await ask('{ story: Story }', `/stories/${grouped.id}`);
    await ask('{ related: RelatedStory[] }', `/stories/${grouped.id}/related`);
    await send('{ story: Story }', 'PATCH', `/stories/${grouped.id}`, { starred: true });
    const { story } = await send('{ story: Story }', 'POST', `/items/${grouped.others[0].id}/separate`, {});
    await send('{ story: Story }', 'POST', `/stories/${grouped.id}/unite`, { with: story.id });
    await ask('TimelinePage', '/timeline?q=the+mac&hidden=1');
    const { undo } = await send('{ read: number; undo: number }', 'POST', '/timeline/read', {});
    await send('{ unread: number }', 'POST', '/timeline/unread', { undo });
    await ask('Session', '/session');
    await ask('Settings', '/settings');
    await send('Settings', 'PATCH', '/settings', { dial: 0.25 });
    const silent = await startSilentServer();
    const opml = `<opml><body><outline xmlUrl="${silent.url}"/></body></opml>`;
    await ask('ImportResult', '/opml', { method: 'POST', type: 'text/x-opml', body: opml });
    const { feeds } = await ask('{ feeds: Feed[] }', '/feeds');
    silent.close();
    assert.ok(feeds.some(({ polled }) => polled === null), 'a feed that was not polled yet');
    await send('{ feed: Feed }', 'PATCH', `/feeds/${feeds[0].id}`, { title: 'Mine' });
  });

  await it.check('events are recorded', async () => {
    const response = await fetch(`${it.program.root}/api/v1/events`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    it.feeds.publish('kernel', 'Apple reveals M4 Mac Mini');
    await fetch(`${it.program.root}/api/v1/refresh`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
    let text = '';
    while (!/data: \{"changed":\[\d/.test(text)) text += (await reader.read()).value;
    for (const [, data] of text.matchAll(/^event: news\ndata: (.*)$/gm)) recorded.push(['News', JSON.parse(data)]);
    await reader.cancel();
  });

  await it.check('answers of indexes are recorded, with and without ranks', async () => {
    await ask('{ indexes: (Index | BrokenIndex)[] }', '/indexes');
    const file = path.join(it.folder, 'papers.jsonl');
    // More than the legs of a search consider, so that one leg finds a document that the other only scores.
    const many = Array.from({ length: 10 }, (_, year) => logs.map((log) => ({ ...log, id: `${log.id}-${year}`, text: `${log.text} Year ${year}.` })));
    const said = [{ time: '2024-05-01T00:00:00Z', text: 'Quoted in the harbour office.' }];
    const noted = { id: 'noted', title: 'Notes', summary: 'Short.', fragments: said, links: [{ to: 'tides', name: 'cites', summary: 'For its tables.', fragments: said }] };
    fs.writeFileSync(file, lines([...papers, noted, ...many.flat()]));
    await it.program.run('index', 'create', 'papers');
    await it.program.run('index', 'add', 'papers', file);
    const broken = path.join(it.folder, 'data', 'indexes', 'broken');
    fs.mkdirSync(broken);
    fs.writeFileSync(path.join(broken, 'index.json'), 'nonsense');
    const { indexes } = await ask('{ indexes: (Index | BrokenIndex)[] }', '/indexes');
    assert.ok(indexes.some(({ problem }) => problem), 'an index that cannot be read');
    const ranks = [];
    for (const question of ['q=moon+tides', 'q=moon+tides&mode=text', 'q=moon+tides&mode=vector', 'q=lighthouse+ships+moon&k=100', 'q=lighthouse&k=1&expand=2',
      'q=tides&mode=graph&from=tides', 'q=breakwater&facets=tag,source', 'q=nothing+like+it', 'q=tides&filter=tag%3Dsea']) {
      const { hits } = await ask('Answer', `/indexes/papers/search?${question}&explain=1`);
      ranks.push(...hits.flatMap(({ legs }) => legs.map(({ rank }) => rank)));
    }
    const opened = await ask('{ indexes: (Index | BrokenIndex)[] }', '/indexes');
    assert.ok(opened.indexes.some(({ spaces }) => spaces?.length > 0), 'an open index with vectors');
    assert.ok(ranks.includes(null) && ranks.some((rank) => rank > 0), `ranks: ${ranks}`);
    await ask('{ document: IndexedDocument }', '/indexes/papers/document?id=almanac');
    await ask('{ document: IndexedDocument }', '/indexes/papers/document?id=tides');
    const { document } = await ask('{ document: IndexedDocument }', '/indexes/papers/document?id=noted');
    assert.ok(document.fragments.length === 1 && document.links[0].summary, 'a document with fragments');
    await ask('Neighbours', '/indexes/papers/neighbours?id=tides');
    await ask('Neighbours', '/indexes/papers/neighbours?id=tides&limit=2');
  });

  await it.check('the types fit every answer', async () => {
    const types = [...new Set(recorded.flatMap(([type]) => type.match(/\b[A-Z]\w+/g) ?? []))];
    const file = path.join(it.folder, 'answers.ts');
    const constants = recorded.map(([type, answer], place) => `export const answer${place}: ${type} = ${JSON.stringify(answer)};`);
    fs.writeFileSync(file, [`import type { ${types} } from '${web}/src/api/types';`, ...constants].join('\n'));
    assert.deepEqual([...new Set(complaintsAbout(file))], []);
    console.log(`     ${recorded.length} answers, ${types.length} types`);
  });

  await it.check('an answer that does not fit is refused', async () => {
    const file = path.join(it.folder, 'wrong.ts');
    fs.writeFileSync(file, `import type { LegScore } from '${web}/src/api/types';
      export const more: LegScore = { leg: 'text', score: 1, share: 1, rank: null, more: 1 };
      export const less: LegScore = { leg: 'text', score: 1, share: 1 };`);
    assert.equal(complaintsAbout(file).length, 2);
  });

  await it.check('the page uses them as they are', async () => {
    execFileSync(process.execPath, [path.join(web, 'node_modules/svelte-check/bin/svelte-check'), '--fail-on-warnings'], {
      cwd: web,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
});
