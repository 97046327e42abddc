// The indexes of a router with what their shards hold, loaded again every few seconds.
import { ApiError, getRoutedIndexes, getShards } from '../api/client';
import type { Shard, ShardsOfIndex } from '../api/types';

export interface ShownIndex extends ShardsOfIndex {
  name: string;
}

/** A shard that answers. */
export const answers = (shard: Shard): shard is Exclude<Shard, { problem: string }> => !('problem' in shard);

const pause = 3_000;

class Shards {
  indexes = $state.raw<ShownIndex[]>([]);
  status = $state<'loading' | 'ready' | 'failed' | 'locked'>('loading');
  problem = $state.raw<unknown>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Every address, and whether the node answers for all of its shards. */
  readonly nodes = $derived.by(() => {
    const nodes = new Map<string, boolean>();
    for (const { shards } of this.indexes)
      for (const shard of shards) nodes.set(shard.address, (nodes.get(shard.address) ?? true) && answers(shard));
    return nodes;
  });

  start(): void {
    // A page that nobody looks at asks nothing.
    document.addEventListener('visibilitychange', () => void this.load());
    void this.load();
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    try {
      const names = (await getRoutedIndexes()).map(({ name }) => name);
      this.indexes = await Promise.all(names.map(async (name) => ({ name, ...(await getShards(name)) })));
      this.status = 'ready';
    } catch (error) {
      const locked = error instanceof ApiError && error.code === 'unauthorised';
      this.status = locked ? 'locked' : 'failed';
      this.problem = error;
      if (locked) return;
    }
    this.#timer = setTimeout(() => void this.load(), pause);
  }
}

export const shards = new Shards();
