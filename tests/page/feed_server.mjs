// Sites with feeds that grow while a test runs: http://127.0.0.1:PORT/NAME/ with its feed.xml and icon.png.
import http from 'node:http';
import zlib from 'node:zlib';

const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

const crcTable = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const crc = body.reduce((sum, byte) => crcTable[(sum ^ byte) & 255] ^ (sum >>> 8), 0xffffffff) ^ 0xffffffff;
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc >>> 0, body.length + 4);
  return frame;
}

// A disc of one colour with a lighter middle, 32 × 32.
function iconOf([red, green, blue]) {
  const size = 32;
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const away = Math.hypot(x - 15.5, y - 15.5);
      const light = 255 * Math.min(1, Math.max(0, 6.5 - away));
      const edge = Math.min(1, Math.max(0, 16 - away));
      const pixel = [Math.max(red, light), Math.max(green, light), Math.max(blue, light), edge * 255];
      rows.set(pixel, y * (size * 4 + 1) + 1 + x * 4);
    }
  }
  const head = Buffer.from([0, 0, 0, size, 0, 0, 0, size, 8, 6, 0, 0, 0]);
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pieces = [chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([magic, ...pieces]);
}

export class FeedServer {
  #sites = new Map();
  #files = new Map();
  #server;

  async start() {
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise((listening) => this.#server.listen(0, '127.0.0.1', listening));
    this.root = `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** A site without items; with a colour it has an icon. */
  addSite(name, title, colour) {
    this.#sites.set(name, { title, items: [], icon: colour && iconOf(colour), served: 0 });
  }

  addFile(path, body) {
    this.#files.set(path, body);
  }

  publish(name, title, { minutes = 0, summary = '' } = {}) {
    const { items } = this.#sites.get(name);
    const date = new Date(Date.now() - minutes * 60_000);
    items.push({ title, summary, date, url: `${this.root}/${name}/${items.length + 1}` });
  }

  feed(name) {
    return `${this.root}/${name}/feed.xml`;
  }

  /** When the feed was last handed out, on the clock of performance.now(). */
  servedAt(name) {
    return this.#sites.get(name).served;
  }

  #answer(request, response) {
    const file = this.#files.get(request.url);
    if (file) return response.writeHead(200, { 'Content-Type': 'application/xml' }).end(file);
    const [, name, page] = request.url.split('/');
    const site = this.#sites.get(name);
    if (!site) return response.writeHead(404).end('not here');
    if (page === 'icon.png' && site.icon) return response.writeHead(200, { 'Content-Type': 'image/png' }).end(site.icon);
    if (page === 'feed.xml') return this.#serveFeed(name, site, response);
    const links = `<link rel="alternate" type="application/rss+xml" href="/${name}/feed.xml">`;
    const icon = site.icon ? `<link rel="icon" href="/${name}/icon.png">` : '';
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(`<!doctype html><title>${escaped(site.title)}</title>${links}${icon}<p>The original.`);
  }

  #serveFeed(name, site, response) {
    const items = site.items.map(
      ({ title, summary, date, url }) =>
        `<item><title>${escaped(title)}</title><link>${url}</link><guid>${url}</guid>` +
        `<description>${escaped(summary)}</description><pubDate>${date.toUTCString()}</pubDate></item>`,
    );
    const head = `<title>${escaped(site.title)}</title><link>${this.root}/${name}/</link>`;
    response.writeHead(200, { 'Content-Type': 'application/rss+xml' });
    response.end(`<?xml version="1.0"?><rss version="2.0"><channel>${head}${items.join('')}</channel></rss>`);
    site.served = performance.now();
  }
}
