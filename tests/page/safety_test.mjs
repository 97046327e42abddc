// Hostile feeds are shown as text and run nothing; the page sends no requests to other servers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { session } from './harness.mjs';

await session('safety', async (it) => {
  it.feeds.addFile('/xss.xml', fs.readFileSync(new URL('../feeds/xss.xml', import.meta.url)));
  const page = await it.open('/');

  await it.check('a feed full of script is shown as text and runs nothing', async () => {
    await page.getByLabel('Address of a feed or a site').fill(`${it.feeds.root}/xss.xml`);
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.locator('article', { hasText: 'Second link' }).waitFor();
    await page.locator('article', { hasText: 'shown as text' }).waitFor();
    for (const place of ['/', '/feeds']) {
      await page.goto(it.program.root + place);
      await page.locator('main a, main button').first().waitFor();
      await it.atRest(page);
      assert.equal(await page.locator('main script, main iframe, main [onerror], main [onload], main [onclick]').count(), 0);
    }
  });

  await it.check('expanding it and opening its story page runs nothing either', async () => {
    await page.goto(it.program.root);
    await page.locator('article').first().waitFor();
    for (let count = await page.locator('article').count(); count > 0; count--) {
      await page.keyboard.press('j');
      await page.keyboard.press('o');
    }
    await page.locator('.others').first().waitFor();
    await it.shot(page, 'hostile');
    await page.locator('a.when').first().click();
    await page.locator('ol .item').first().waitFor();
  });

  await it.check('markup that got past the server is text all the same', async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    await page.route('**/api/v1/timeline*', async (route) => {
      const answer = await (await route.fetch()).json();
      for (const { representative } of answer.stories) {
        Object.assign(representative, { title: hostile, summary: hostile, url: 'javascript:alert(3)' });
      }
      await route.fulfill({ json: answer });
    });
    await page.goto(it.program.root);
    await page.locator('article h3', { hasText: hostile }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.locator('.summary', { hasText: hostile }).waitFor();
    await page.keyboard.press('v');
    assert.equal(await page.locator('article h3 a').count(), 0);
    await page.unrouteAll({ behavior: 'wait' });
  });

  await it.check('links lead to http and https only', async () => {
    await page.goto(it.program.root);
    await page.locator('article').first().waitFor();
    const addresses = await page.locator('a[href]').evaluateAll((links) => links.map((link) => link.href));
    assert.deepEqual(addresses.filter((address) => !/^https?:/.test(address)), []);
    const outside = await page.locator('a[target]').evaluateAll((links) => links.map((link) => link.rel));
    assert.deepEqual(outside.filter((rel) => rel !== 'noopener noreferrer'), []);
  });

  await it.check('a Kindred that asks for a token says so', async () => {
    it.expectErrors(/401/);
    const refusal = { status: 401, json: { error: { code: 'unauthorised', message: 'a token is needed' } } };
    await page.route('**/api/v1/*', (route) => route.fulfill(refusal));
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.goto(it.program.root); // other requests of this page may be refused a little later
  });

  await it.check('the policy refuses inline script and style', async () => {
    const response = await page.goto(it.program.root);
    const policy = response.headers()['content-security-policy'];
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    it.expectErrors(/Content Security Policy/);
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = true';
      document.head.append(script);
    });
    assert.equal(await page.evaluate(() => window.ran), undefined);
  });
});
