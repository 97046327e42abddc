// Nodes and routers beside the program that a session tests.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { kindred, until } from './harness.mjs';

export class Server {
  /** `words` are the command: `node` or `router`, and further options. */
  constructor(folder, ...words) {
    this.folder = folder;
    this.words = words;
    this.port = 0;
  }

  /** Starts it, at the port it had before if there was one. */
  async start() {
    const portFile = path.join(this.folder, 'port');
    fs.mkdirSync(this.folder, { recursive: true });
    fs.rmSync(portFile, { force: true });
    const options = ['--data', path.join(this.folder, 'data'), '--listen', `127.0.0.1:${this.port}`, '--port-file', portFile];
    this.process = spawn(kindred, [...this.words, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
    this.ended = new Promise((end) => this.process.once('exit', end));
    await until(`a ${this.words[0]}`, () => fs.existsSync(portFile));
    this.port = Number(fs.readFileSync(portFile, 'utf8'));
    return this;
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}

/** Nodes in sub-folders of `folder`, running. */
export const startNodes = (folder, names) => Promise.all(names.map((name) => new Server(path.join(folder, name), 'node').start()));

/** The options of a router for these nodes. */
export const nodeOptions = (nodes) => nodes.flatMap(({ port }) => ['--node', `127.0.0.1:${port}`]);
