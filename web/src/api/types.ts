// Types of the JSON API (docs/api.md). tests/page/types_test.mjs checks them against the server's answers. All texts
// are plain text.

export type Why = 'opened' | 'identity' | 'republished' | 'story' | 'corrected' | 'ungrouped';

export interface Item {
  id: number;
  feed: number;
  /** The feed's title. The feed itself may have been removed. */
  source: string;
  title: string;
  url: string;
  summary: string;
  author: string;
  published: string;
  similarity: number;
  why: Why;
  /** Whether its story was marked as read after it had arrived. */
  seen: boolean;
}

export interface Story {
  id: number;
  count: number;
  sources: number;
  first: string;
  last: string;
  /** Decides its place in the timeline: `last`, or when news joined after it was read or hidden. */
  at: string;
  /** The ids of its items are below it. */
  bound: number;
  /** Items that arrived after it was read. */
  new: number;
  read: boolean;
  starred: boolean;
  hidden: boolean;
  /** An older story with the same text. */
  repeats: number | null;
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
  /** Starred stories with a headline of this feed. */
  starred: number;
}

/** A story on the same subject as another. */
export interface RelatedStory {
  id: number;
  title: string;
  count: number;
  sources: number;
  last: string;
}

/** Selects stories of a timeline. Absent fields select everything. */
export interface Filter {
  feed?: number;
  folder?: string;
  q?: string;
  unread?: boolean;
  starred?: boolean;
  hidden?: boolean;
}

/** A word of a search as it is compared: in lower case, without accents. */
export interface SearchedWord {
  text: string;
  /** Words that begin with it match too. */
  prefix: boolean;
}

export interface TimelinePage {
  stories: Story[];
  next: string | null;
  unread: number;
  /** The ids of all items that had arrived are below it. */
  bound: number;
  /** Very common words are left out. */
  words: SearchedWord[];
}

export interface Settings {
  /** From 0 (tight: more and purer stories) to 1 (loose). */
  dial: number;
}

export interface Session {
  /** Whether the server asks for a token. */
  token: boolean;
  /** For addresses of the timeline as a feed. */
  feed_token: string | null;
  /** The address of the router that has the indexes; null: they are this server's own. */
  indexes_at: string | null;
}

export interface News {
  changed: number[];
  gone: { story: number; into: number | null }[];
  feeds: number[];
}

export type StoryMarks = Partial<Pick<Story, 'read' | 'starred' | 'hidden'>>;
export type StarredItems = 'keep' | 'remove';
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

export type Mode = 'hybrid' | 'text' | 'vector' | 'graph';
export type Leg = Exclude<Mode, 'hybrid'>;
export type Kind = 'entity' | 'edge' | 'entity_fragment' | 'edge_fragment';

export interface Index {
  name: string;
  documents: number;
  edges: number;
  fragments: number;
  embed: string;
  /** 0 while there are no vectors; null while it is not known because the index is not open. */
  dimension: number | null;
  distance: string;
  dedup: 'link' | 'refuse' | null;
  language: string;
  /** Whether the server has it open. If not, the numbers are those in its files. */
  open: boolean;
  /** Vectors are being computed again. Searches use the old ones until then. */
  building: boolean;
  bytes: number;
  modes: Mode[];
  spaces: VectorSpace[];
}

/** One set of vectors of an index. */
export interface VectorSpace {
  name: string;
  vectors: number;
  pending: number;
  cells: number;
  memory: number;
  /** The share of vectors that is computed: 1 unless they are being computed again. */
  built: number;
}

/** An index that cannot be read, and why. */
export interface BrokenIndex {
  name: string;
  problem: string;
}

/** A search in an index. Absent fields select everything. */
export interface SearchRequest {
  q: string;
  mode?: Mode;
  k: number;
  offset?: number;
  filters?: Facet[];
  as_of?: string;
  expand?: number;
  fuzzy?: number;
  facets?: string[];
}

export interface Facet {
  name: string;
  value: string;
}

export interface FacetCount {
  value: string;
  count: number;
}

/** A piece of a text. `mark`: it matched the query. */
export interface Piece {
  text: string;
  mark?: boolean;
}

export interface Edge {
  from: string;
  to: string;
  name: string;
  weight: number;
}

export interface LegScore {
  leg: Leg;
  score: number;
  /** The leg's part of the hit's score. */
  share: number;
  /** From 1; null if the leg scored the hit but did not find it. */
  rank: number | null;
}

export interface Trace {
  by: string;
  hops: number;
  edges: Edge[];
}

export interface TermScore {
  term: string;
  score: number;
  frequency: number;
  documents: number;
}

export interface Hit {
  id: string;
  kind: Kind;
  /** Of an edge: the document it leads to, and its name. */
  to?: string;
  name?: string;
  score: number;
  title: Piece[];
  snippet: Piece[];
  tags: string[];
  source: string;
  published: string | null;
  valid_from: string | null;
  valid_until: string | null;
  attributes: Record<string, unknown>;
  legs: LegScore[];
  trace: Trace | null;
  why?: { terms: TermScore[]; similarity: number | null };
}

export interface Answer {
  hits: Hit[];
  count: number | null;
  facets: Record<string, FacetCount[]>;
  mode: Mode;
  milliseconds: number;
  /** How old the state may be that answered; missing: it is the newest. */
  behind_seconds?: number;
}

/** A dated text about a document or a link. */
export interface Fragment {
  time: string;
  text: string;
}

export interface DocumentLink {
  to: string;
  name?: string;
  weight?: number;
  summary?: string;
  fragments?: Fragment[];
  valid_from?: string | null;
  valid_until?: string | null;
}

/** A document as it was added. Fields that are not listed here are attributes. */
export interface IndexedDocument {
  id: string;
  title?: string;
  text?: string;
  tags?: string[];
  links?: (string | DocumentLink)[];
  summaries?: string[];
  fragments?: Fragment[];
  valid_from?: string | null;
  valid_until?: string | null;
  published?: string | null;
  source?: string;
  [attribute: string]: unknown;
}

export interface Neighbour {
  id: string;
  title: string;
  hops: number;
  /** Something links to it, but it is not in the index. */
  missing?: boolean;
}

export interface Neighbours {
  nodes: Neighbour[];
  edges: Edge[];
  /** False if more nodes are in reach than were asked for. */
  complete: boolean;
}

/** An index of a router, as its list has it. */
export interface RoutedIndex {
  name: string;
  epoch: number;
  [more: string]: unknown;
}

export type Shard =
  | { address: string; problem: string }
  | {
      address: string;
      entities: number;
      edges: number;
      fragments: number;
      text_documents: number;
      disk_bytes: number;
      text_bytes: number;
      vectors: number;
      pending_vectors: number;
      last_lsn: number;
      checkpoint_lsn: number;
    };

export interface Partition {
  partition: number;
  /** Its place in the list of shards. */
  shard: number;
  /** Null if the shard does not answer. */
  entities: number | null;
  /** Milliseconds of work in each second, averaged over the last minutes. Null if the shard does not answer. */
  load: number | null;
}

/** The last move of a partition to another node. */
export interface Move {
  partition: number;
  from: string;
  to: string;
  phase: string;
  over: boolean;
  /** Why it was undone. */
  reason?: string;
  /** How far the copy is; missing while the router has not seen it. */
  entities?: number;
  of?: number | null;
  bytes?: number;
  bytes_per_second?: number;
  seconds_left?: number | null;
  /** Why it waits. */
  problem?: string;
}

/** The last split, merge or retraining of partitions. */
export interface Repartition {
  /** All that take part, with new ones. */
  partitions: number[];
  /** Those that are merged into the others. */
  retired: number[];
  added: number;
  node: string;
  phase: string;
  over: boolean;
  reason?: string;
  /** Entities that were looked at, and that got another partition; missing while the router has not seen it. */
  looked?: number;
  moved?: number;
  problem?: string;
}

export interface MovesOfIndex {
  moves: Move[];
  repartition: Repartition | null;
}

export interface ShardsOfIndex {
  epoch: number;
  shards: Shard[];
  partitions: Partition[];
}
