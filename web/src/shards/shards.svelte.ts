// The indexes of a router with what their shards hold, loaded again every few seconds.
import { ApiError, getMoves, getRoutedIndexes, getShards } from '../api/client';
import type { MovesOfIndex, Shard, ShardsOfIndex } from '../api/types';
import { library } from '../state/library.svelte';

/** Moves and a repartition are those under way, and those that the page saw end. */
export interface ShownIndex extends ShardsOfIndex, MovesOfIndex {
  name: string;
}

/** A shard that answers. */
export const answers = (shard: Shard): shard is Exclude<Shard, { problem: string }> => !('problem' in shard);

/** What the squares of partitions show. */
export type Measure = 'entities' | 'load';

const pause = 3_000;
const pauseWhileMoving = 1_000;

class Shards {
  indexes = $state.raw<ShownIndex[]>([]);
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<unknown>(null);
  by = $state<Measure>('entities');
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watched = false;
  /** The moves that were under way when the page looked, by index. */
  #seen = new Map<string, Set<number>>();
  /** Indexes with a repartition that was under way. */
  #divided = new Set<string>();

  /** Every address, and whether the node answers for all of its shards. */
  readonly nodes = $derived.by(() => {
    const nodes = new Map<string, boolean>();
    for (const { shards } of this.indexes)
      for (const shard of shards) nodes.set(shard.address, (nodes.get(shard.address) ?? true) && answers(shard));
    return nodes;
  });

  /** Loads now and again until the function it returns is called. */
  watch(): () => void {
    this.#watched = true;
    const load = () => void this.load();
    document.addEventListener('visibilitychange', load);
    load();
    return () => {
      this.#watched = false;
      clearTimeout(this.#timer);
      document.removeEventListener('visibilitychange', load);
    };
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    // A page that nobody looks at asks nothing.
    if (document.hidden) return;
    try {
      const names = (await getRoutedIndexes()).map(({ name }) => name);
      this.indexes = await Promise.all(names.map(async (name) => ({ name, ...(await getShards(name)), ...(await this.#movesOf(name)) })));
      this.status = 'ready';
    } catch (error) {
      this.problem = error;
      if (error instanceof ApiError && error.code === 'unauthorised') {
        library.locked = true;
        return;
      }
      this.status = 'failed';
    }
    const moving = this.indexes.some(({ moves, repartition }) => moves.some(({ over }) => !over) || repartition?.over === false);
    if (this.#watched) this.#timer = setTimeout(() => void this.load(), moving ? pauseWhileMoving : pause);
  }

  async #movesOf(name: string): Promise<MovesOfIndex> {
    let all: MovesOfIndex;
    try {
      all = await getMoves(name);
    } catch (error) {
      // A tenant does not see them.
      if (error instanceof ApiError && error.code === 'forbidden') return { moves: [], repartition: null };
      throw error;
    }
    const { moves, repartition } = all;
    if (repartition?.over === false) this.#divided.add(name);
    const seen = this.#seen.get(name) ?? new Set<number>();
    this.#seen.set(name, seen);
    for (const { partition, over } of moves) if (!over) seen.add(partition);
    // One that failed is told, whoever saw it.
    const isShown = repartition !== null && (this.#divided.has(name) || repartition.phase === 'failed');
    return {
      moves: moves.filter(({ partition, over, phase }) => !over || phase === 'failed' || seen.has(partition)),
      repartition: isShown ? repartition : null,
    };
  }
}

export const shards = new Shards();
