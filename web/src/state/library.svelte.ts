// The feeds that are followed and how much of them is unread.
import { ApiError, getFeeds, getTimeline } from '../api/client';
import type { Feed } from '../api/types';

export interface Folder {
  name: string;
  feeds: Feed[];
  /** Whether anything is unread. There is no total, because feeds share stories. */
  unread: boolean;
}

class Library {
  feeds = $state.raw<Feed[]>([]);
  unread = $state(0);
  loaded = $state(false);
  /** The server asks for a token that this browser does not have. */
  locked = $state(false);

  readonly byId = $derived(new Map(this.feeds.map((feed) => [feed.id, feed])));
  readonly folders = $derived(foldersOf(this.feeds));

  async load(): Promise<void> {
    try {
      const [feeds, page] = await Promise.all([getFeeds(), getTimeline({}, 1)]);
      this.feeds = feeds;
      this.unread = page.unread;
      this.locked = false;
      this.loaded = true;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorised') this.locked = true;
      else if (!this.loaded) throw error;
    }
  }

  /** Loads again soon; many calls in a row are one request. */
  refresh(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.load().catch(() => {});
    }, 300);
  }

  put(feed: Feed): void {
    const known = this.byId.has(feed.id);
    this.feeds = known ? this.feeds.map((old) => (old.id === feed.id ? feed : old)) : [...this.feeds, feed];
  }

  drop(id: number): void {
    this.feeds = this.feeds.filter((feed) => feed.id !== id);
  }

  nameOf(id: number): string {
    const feed = this.byId.get(id);
    return feed ? feed.title || hostOf(feed.url) : '';
  }

  #timer: ReturnType<typeof setTimeout> | undefined;
}

export function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^www\./, '');
  } catch {
    return url;
  }
}

// Feeds without a folder come first, under the empty name.
function foldersOf(feeds: Feed[]): Folder[] {
  const folders = new Map<string, Folder>();
  for (const feed of feeds) {
    const folder = folders.get(feed.folder) ?? { name: feed.folder, feeds: [], unread: false };
    folder.feeds.push(feed);
    folder.unread ||= feed.unread > 0;
    folders.set(feed.folder, folder);
  }
  for (const folder of folders.values()) folder.feeds.sort((a, b) => a.title.localeCompare(b.title));
  return [...folders.values()].sort((a, b) => a.name.localeCompare(b.name));
}

export const library = new Library();
