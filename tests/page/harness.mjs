// Runs checks in a real browser against the real program.
//
// usage of a test: node NAME_test.mjs KINDRED SCREENSHOTS
//
// Every check prints a line. Whatever the page writes to the console as an error, a breach of the content
// security policy, an exception and a request to any other server fail the check during which they happen.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { FeedServer } from './feed_server.mjs';

const fromWeb = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = fromWeb('playwright-core');
const axe = fs.readFileSync(fromWeb.resolve('axe-core/axe.min.js'), 'utf8');
export const kindred = process.argv[2];
const screenshots = process.argv[3];
const patience = 60_000; // milliseconds that any event is waited for
const shortly = () => new Promise((next) => setTimeout(next, 20));

export async function until(what, done) {
  const end = Date.now() + patience;
  while (!(await done())) {
    if (Date.now() > end) throw new Error(`waited too long for ${what}`);
    await shortly();
  }
}

/** Waits until `read` gives `wanted`: what a click or a key does may show a little later. */
export async function becomes(read, wanted) {
  const end = Date.now() + patience;
  for (let now = await read(); now !== wanted; now = await read()) {
    if (Date.now() > end) assert.equal(now, wanted);
    await shortly();
  }
}

/** Presses keys without waiting in between: a pair such as g and s counts only if its keys follow each other soon. */
export const typed = (page, ...keys) => Promise.all(keys.map((key) => page.keyboard.press(key)));

/** Waits until no list of the page is being loaded. */
export const loaded = (page) => page.waitForFunction(() => !document.querySelector('[aria-busy=true], .skeleton'));

/** Does `act` and waits until the server has taken the mark of a story that it makes: the page shows it before that. */
export const marked = (page, act) =>
  Promise.all([page.waitForResponse((response) => response.request().method() === 'PATCH' && response.url().includes('/stories/')), act()]);

/** Holds the next such request, or with `answered` the answer to it, from caught() until release(). */
export async function hold(page, method, address, { answered = false } = {}) {
  let caught = false;
  let release;
  const released = new Promise((done) => (release = done));
  await page.route(address, async (route) => {
    if (caught || route.request().method() !== method) return route.fallback();
    const response = answered ? await route.fetch() : undefined;
    caught = true;
    await released;
    return response ? route.fulfill({ response }) : route.continue();
  });
  return { release, caught: () => until(`${method} ${address}`, () => caught) };
}

// Runs in every page before its own scripts. A message stays until the test has read it, and the second key of
// `g a` counts however late it comes.
function takeTime() {
  const longest = 5_000;
  const start = window.setTimeout;
  window.setTimeout = (call, delay, ...values) => (delay >= longest ? 0 : start(call, delay, ...values));
  Object.defineProperty(KeyboardEvent.prototype, 'timeStamp', { get: () => 0 });
}

// A time zone in which it is noon now, so that no test runs over midnight.
function zoneOfNoon() {
  const east = 12 - new Date().getUTCHours();
  return `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`; // the sign of these names is reversed
}

class Program {
  /** `words` are the command: `serve` or `router`, and further options. */
  constructor(folder, words) {
    this.folder = folder;
    this.words = words;
  }

  /** Starts it, at the port it had before if there was one. Another process may have that port for a moment. */
  async start() {
    if (this.port) await until(`port ${this.port}`, () => this.#tryToStart());
    else assert.ok(await this.#tryToStart(), `kindred ${this.words[0]} ended at once`);
  }

  async #tryToStart() {
    const portFile = path.join(this.folder, 'port');
    fs.rmSync(portFile, { force: true });
    const listen = `127.0.0.1:${this.port ?? 0}`;
    const options = ['--listen', listen, '--data', path.join(this.folder, 'data'), '--port-file', portFile];
    this.process = spawn(kindred, [...this.words, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
    this.ended = new Promise((end) => this.process.once('exit', end));
    await until(`kindred ${this.words[0]}`, () => fs.existsSync(portFile) || this.process.exitCode !== null);
    if (this.process.exitCode !== null) return false;
    this.port = Number(fs.readFileSync(portFile, 'utf8'));
    this.root = `http://127.0.0.1:${this.port}`;
    return true;
  }

  async stop() {
    this.process.kill('SIGTERM');
    await this.ended;
  }

  /** Runs another command on the same data, while nothing else does. */
  async run(...command) {
    await this.stop();
    execFileSync(kindred, [...command, '--data', path.join(this.folder, 'data')], { stdio: ['ignore', 'ignore', 'inherit'] });
    await this.start();
  }
}

class Session {
  faults = [];
  #browser;
  #contexts = [];
  #expected = [];

  async start(name, { verb = 'serve', options = () => [] } = {}) {
    this.name = name;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kindred-page-'));
    this.feeds = new FeedServer();
    await this.feeds.start();
    const usual = verb === 'serve' ? ['--allow-private', '--refresh-gap', '0'] : [];
    this.program = new Program(this.folder, [verb, ...usual, ...(await options(this.folder))]);
    await this.program.start();
  }

  async stop() {
    await this.#browser?.close();
    await this.program?.stop();
    this.feeds?.stop();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  async open(address = '/', options = {}) {
    this.#browser ??= await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
      timeout: patience,
    });
    const viewport = { width: 1280, height: 860 };
    const context = await this.#browser.newContext({ viewport, locale: 'en-GB', timezoneId: zoneOfNoon(), ...options });
    context.setDefaultTimeout(patience);
    await context.addInitScript(takeTime);
    this.#contexts.push(context);
    const page = await context.newPage();
    this.#watch(page);
    await page.goto(this.program.root + address);
    return page;
  }

  #watch(page) {
    page.on('pageerror', (error) => this.faults.push(`exception: ${error}`));
    page.on('dialog', (dialog) => {
      this.faults.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== this.program.root) this.faults.push(`request to ${request.url()}`);
    });
  }

  /** Console errors that match are part of what is being checked. */
  expectErrors(pattern) {
    this.#expected.push(pattern);
  }

  async check(what, body) {
    const start = performance.now();
    await body();
    const unexpected = this.faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(unexpected, [], what);
    this.faults = [];
    this.#expected = [];
    console.log(`ok   ${what} (${Math.round(performance.now() - start)} ms)`);
  }

  async shot(page, name) {
    fs.mkdirSync(screenshots, { recursive: true });
    // Pictures show no animations, such as those of entry or under the pointer.
    await page.screenshot({ path: path.join(screenshots, `${name}.png`), animations: 'disabled' });
  }

  /** Waits until the page is at rest: nothing in it has moved for ten frames. */
  async atRest(page) {
    await page.evaluate(async (patience) => {
      const places = () =>
        [...document.querySelectorAll('article, [role=dialog], dialog, svg .node circle')]
          .map((element) => Object.values(element.getBoundingClientRect().toJSON()).join())
          .join(';');
      const end = Date.now() + patience;
      for (let still = 0, before = places(); still < 10; still++) {
        if (Date.now() > end) throw new Error('the page does not come to rest');
        await new Promise(requestAnimationFrame);
        const now = places();
        if (now !== before) still = -1;
        before = now;
      }
    }, patience);
  }

  /** No serious breach of the accessibility rules that can be checked by program. */
  async checkAccessible(page, where) {
    await loaded(page); // a list that is being loaded is dimmed
    await page.evaluate(() => {
      // Colours that are still changing would be judged too early.
      const finite = document.getAnimations().filter((one) => (one.effect?.getComputedTiming().endTime ?? Infinity) < Infinity);
      for (const animation of finite) animation.finish();
    });
    await page.evaluate(`${axe}; window.axe = axe;`);
    const problems = await page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] });
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`);
    });
    assert.deepEqual(problems, [], where);
  }

  /** Follows sites, each in its folder; `ungrouped` ones keep a story for each headline. */
  async follow(...names) {
    for (const name of names) {
      const response = await fetch(`${this.program.root}/api/v1/feeds`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...this.headers },
        body: JSON.stringify({ url: this.feeds.feed(name), folder: this.folders?.[name] ?? '', grouped: !this.ungrouped }),
      });
      assert.equal(response.status, 201, await response.text());
    }
  }

  async failed() {
    for (const [place, context] of this.#contexts.entries()) {
      for (const page of context.pages()) await this.shot(page, `failed-${this.name}-${place}`).catch(() => {});
    }
  }
}

/** `how.options(folder)` are further options of `kindred serve`. */
export async function session(name, body, how = {}) {
  const it = new Session();
  try {
    await it.start(name, how);
    await body(it);
  } catch (error) {
    console.error(`FAIL ${error.stack ?? error}`);
    for (const fault of it.faults) console.error(`     ${fault}`);
    await it.failed();
    process.exitCode = 1;
  } finally {
    await it.stop();
  }
}
