// Every story the page knows, by id; views show ids, so a story looks the same wherever it is shown.
import { SvelteMap } from 'svelte/reactivity';
import { getStory } from '../api/client';
import type { Item, Story } from '../api/types';
import { upToDate } from './changes';

export const stories = new SvelteMap<number, Story>();

/** Remembers a story. A timeline has the newest items only: other known items are kept. */
export function put(story: Story): void {
  const known = stories.get(story.id);
  const shortened = story.count > story.others.length + 1;
  const keep = shortened && known?.count === story.count && known.others.length > story.others.length;
  stories.set(story.id, keep ? { ...story, others: known.others } : story);
}

let loading: Promise<unknown> = Promise.resolve();

/** Loads a story with all its items. One after another, so that an answer from before news does not replace a newer one. */
export function loadStory(id: number): Promise<Story> {
  const loaded = loading.then(async () => {
    const story = await upToDate(() => getStory(id));
    put(story);
    return story;
  });
  loading = loaded.catch(() => {});
  return loaded;
}

/** All items of a story that are known here, the oldest first. */
export function itemsOf(story: Story): Item[] {
  return byTime([story.representative, ...story.others]);
}

export function byTime(items: Item[]): Item[] {
  return [...items].sort((a, b) => a.published.localeCompare(b.published) || a.id - b.id);
}

/** The feeds of the folded items, each once and the representative's left out, in order of appearance. */
export function otherFeeds(story: Story): number[] {
  const feeds = new Set(byTime(story.others).map((item) => item.feed));
  if (feeds.size > 1) feeds.delete(story.representative.feed);
  return [...feeds];
}

/** The address if it is safe to link to, or nothing. */
export function linkOf(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined;
}
