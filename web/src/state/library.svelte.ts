// The feeds that are followed and how much of them is unread.
import { ApiError, getFeeds, getSession, getTimeline } from '../api/client';
import type { Feed, Filter, Item, Session } from '../api/types';

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
  session = $state.raw<Session>({ token: false, feed_token: null, indexes_at: null });

  readonly byId = $derived(new Map(this.feeds.map((feed) => [feed.id, feed])));
  readonly folders = $derived(foldersOf(this.feeds));

  async load(): Promise<void> {
    try {
      const first = !this.loaded || this.locked;
      const [feeds, page, session] = await Promise.all([getFeeds(), getTimeline({}, 1), first ? getSession() : this.session]);
      this.session = session;
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

  /** The name of an item's feed, which may have been removed. */
  sourceOf(item: Item): string {
    return this.nameOf(item.feed) || item.source;
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

/** The name of a filter, without its search: "Unread", "Tech › Apple". */
export function scopeName({ feed, folder, unread, starred, hidden }: Filter): string {
  const place = feed !== undefined ? library.nameOf(feed) || 'Feed' : (folder?.replaceAll('/', ' › ') ?? '');
  const kind = hidden ? 'Hidden' : starred ? 'Starred' : unread ? 'Unread' : 'All stories';
  if (!place) return kind;
  return kind === 'All stories' ? place : `${kind}, ${place}`;
}
