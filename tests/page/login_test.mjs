// A server with a token: the page asks for it once, and other readers have an address of their own.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { session } from './harness.mjs';
import { furnish } from './world.mjs';

const token = '0123456789abcdef0123456789abcdef';
const card = (page, title) => page.locator('article').filter({ has: page.locator('h3', { hasText: title }) });

function options(folder) {
  const file = path.join(folder, 'token');
  fs.writeFileSync(file, `${token}\n`);
  return ['--token-file', file];
}

await session(
  'login',
  async (it) => {
    it.headers = { Authorization: `Bearer ${token}` };
    await it.follow(...furnish(it.feeds, ['herald', 'chronicle']));
    const page = await it.open('/');

    await it.check('the page asks for the token', async () => {
      it.expectErrors(/401/);
      await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
      await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT');
      await it.shot(page, 'login');
      await it.checkAccessible(page, 'log in');
    });

    await it.check('a wrong token is refused in words', async () => {
      it.expectErrors(/401/);
      await page.getByLabel('Token').fill('0123456789abcdef-not-this');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'token is wrong' }).waitFor();
      await it.shot(page, 'login-wrong');
    });

    await it.check('the token opens the page, also after a reload', async () => {
      it.expectErrors(/401/);
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Log in' }).click();
      await card(page, 'North Sea').waitFor();
      await page.reload();
      await card(page, 'North Sea').waitFor();
    });

    await it.check('what the page changes is taken, and news arrive', async () => {
      await card(page, 'typewriter').hover();
      await card(page, 'typewriter').getByRole('button', { name: 'Mark as read' }).click();
      await page.locator('article.read', { hasText: 'typewriter' }).waitFor();
      it.feeds.publish('herald', 'Lighthouse keepers of Norway hold their last meeting');
      await page.keyboard.press('Escape');
      await page.keyboard.press('r');
      await page.getByText(/1 new story|Lighthouse keepers/).first().waitFor();
    });

    await it.check('the help has addresses for other readers, which need no log-in', async () => {
      await page.keyboard.press('?');
      const link = page.getByRole('dialog').getByRole('link', { name: 'stories.xml' });
      const address = await link.getAttribute('href');
      assert.match(address, /^\/stories\.xml\?token=[0-9a-f]{32}$/);
      const feed = await fetch(it.program.root + address);
      assert.equal(feed.status, 200);
      assert.match(await feed.text(), /North Sea/);
      assert.equal((await fetch(`${it.program.root}/stories.xml`)).status, 401);
      assert.equal((await fetch(it.program.root + address.replace('/stories.xml', '/api/v1/timeline'))).status, 401);
      await page.keyboard.press('Escape');
    });

    await it.check('logging out asks for the token again', async () => {
      it.expectErrors(/401/);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    });
  },
  { options },
);
