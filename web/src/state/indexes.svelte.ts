// The indexes that can be searched, and which of them was searched last.
import { ApiError, getIndexes } from '../api/client';
import type { BrokenIndex, Index } from '../api/types';
import { library } from './library.svelte';

const key = 'kindred.index';

function remembered(): string {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

class Indexes {
  all = $state.raw<Index[]>([]);
  broken = $state.raw<BrokenIndex[]>([]);
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<unknown>(null);
  /** Address for `--at`, if this is the page of a router. */
  at = $state('');
  #last = remembered();

  async load(): Promise<void> {
    try {
      const listed = await getIndexes();
      this.all = listed.filter((index): index is Index => !('problem' in index));
      this.broken = listed.filter((index): index is BrokenIndex => 'problem' in index);
      this.status = 'ready';
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorised') library.locked = true;
      this.problem = error;
      this.status = 'failed';
    }
  }

  /** The one of that name; without a name the one that was searched last, or the first. */
  find(name: string): Index | undefined {
    const named = (wanted: string) => this.all.find((index) => index.name === wanted);
    return name ? named(name) : (named(this.#last) ?? this.all[0]);
  }

  remember(name: string): void {
    if (name === this.#last) return;
    this.#last = name;
    try {
      localStorage.setItem(key, name);
    } catch {
      // Storage may be blocked: then it is remembered as long as the page.
    }
  }
}

export const indexes = new Indexes();
