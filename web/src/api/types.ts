// What the JSON API answers with; docs/api.md is the agreement. All texts are plain text.

export type Why = 'opened' | 'identity' | 'republished' | 'story' | 'corrected' | 'ungrouped';

export interface Item {
  id: number;
  feed: number;
  title: string;
  url: string;
  summary: string;
  author: string;
  published: string;
  similarity: number;
  why: Why;
}

export interface Story {
  id: number;
  count: number;
  sources: number;
  first: string;
  last: string;
  read: boolean;
  starred: boolean;
  hidden: boolean;
  /** An older story that told the same in the same words. */
  repeats?: number | null;
  representative: Item;
  others: Item[];
}

export interface Feed {
  id: number;
  url: string;
  title: string;
  site: string;
  folder: string;
  grouped: boolean;
  has_icon: boolean;
  gone: boolean;
  polled: string | null;
  next_poll: string | null;
  problem: string;
  items: number;
  unread: number;
}

/** Which stories a timeline shows; what is absent does not narrow it. */
export interface Filter {
  feed?: number;
  folder?: string;
  q?: string;
  unread?: boolean;
  starred?: boolean;
}

export interface TimelinePage {
  stories: Story[];
  next: string | null;
  unread: number;
}

export interface News {
  changed: number[];
  gone: { story: number; into: number | null }[];
  feeds: number[];
}

export type StoryMarks = Partial<Pick<Story, 'read' | 'starred' | 'hidden'>>;
export type FeedSettings = Partial<Pick<Feed, 'title' | 'folder' | 'grouped'>>;

export interface NewFeed extends FeedSettings {
  url: string;
  credentials?: { user: string; password: string } | { token: string };
}

export interface ImportResult {
  added: number;
  already: number;
  left_out: number;
}
