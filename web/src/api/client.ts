// The JSON API, one function per request. All of them reject with an ApiError only.
import type {
  Answer, BrokenIndex, Feed, FeedSettings, Filter, ImportResult, Index, IndexedDocument, MovesOfIndex, Neighbours, NewFeed, SearchRequest,
  RelatedStory, RoutedIndex, Session, ShardsOfIndex, Settings, StarredItems, Story, StoryMarks, TimelinePage,
} from './types';

const root = '/api/v1';

/** `code` is one of the API's, `offline` if the server could not be reached, or `aborted` if the request was cancelled. */
export class ApiError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

interface Sending {
  body?: BodyInit;
  type?: string;
  signal?: AbortSignal;
}

async function send(method: string, path: string, { body, type, signal }: Sending = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['Content-Type'] = type ?? 'application/json';
  const init: RequestInit = { method, headers, credentials: 'same-origin', signal };
  if (body !== undefined) init.body = body;
  let response: Response;
  try {
    response = await fetch(root + path, init);
  } catch {
    if (signal?.aborted) throw new ApiError('aborted', 'The request was cancelled.');
    throw new ApiError('offline', 'Kindred cannot be reached.');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response: Response): Promise<ApiError> {
  const fallback = response.status === 401 ? 'unauthorised' : 'internal';
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return new ApiError(error.code, error.message);
  } catch {
    return new ApiError(fallback, `Kindred answered with status ${response.status}.`);
  }
}

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await send(method, path, { body: text, signal });
  try {
    return (response.status === 204 || response.status === 202 ? undefined : await response.json()) as T;
  } catch {
    throw new ApiError('internal', 'Kindred’s answer could not be read.');
  }
}

/** The filter as a query string, for the API and for the page's own addresses. */
export function queryOf(filter: Filter, more: Record<string, string> = {}): string {
  const query = new URLSearchParams();
  if (filter.feed !== undefined) query.set('feed', String(filter.feed));
  if (filter.folder) query.set('folder', filter.folder);
  if (filter.q) query.set('q', filter.q);
  if (filter.unread) query.set('unread', '1');
  if (filter.starred) query.set('starred', '1');
  if (filter.hidden) query.set('hidden', '1');
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  const text = query.toString();
  return text && `?${text}`;
}

export const eventsAddress = `${root}/events`;
export const exportAddress = `${root}/opml`;
export const iconAddress = (feed: number) => `${root}/feeds/${feed}/icon`;

export const getFeeds = () => call<{ feeds: Feed[] }>('GET', '/feeds').then((a) => a.feeds);
export const addFeed = (feed: NewFeed) => call<{ feed: Feed }>('POST', '/feeds', feed).then((a) => a.feed);
export const changeFeed = (id: number, settings: FeedSettings) =>
  call<{ feed: Feed }>('PATCH', `/feeds/${id}`, settings).then((a) => a.feed);
export const removeFeed = (id: number, starred: StarredItems) => call<void>('DELETE', `/feeds/${id}?starred=${starred}`);
export const refreshFeed = (id: number) => call<void>('POST', `/feeds/${id}/refresh`, {});
export const refreshAll = () => call<void>('POST', '/refresh', {});

export async function importOpml(document: Blob): Promise<ImportResult> {
  const response = await send('POST', '/opml', { body: document, type: 'text/x-opml' });
  return (await response.json()) as ImportResult;
}

export function getTimeline(filter: Filter, limit: number, before?: string): Promise<TimelinePage> {
  const more: Record<string, string> = { limit: String(limit) };
  if (before) more.before = before;
  return call('GET', `/timeline${queryOf(filter, more)}`);
}

const story = (answer: Promise<{ story: Story }>) => answer.then((a) => a.story);
/** The story leads with a headline of `scope`. */
export const getStory = (id: number, scope: Pick<Filter, 'feed' | 'folder'> = {}) =>
  story(call('GET', `/stories/${id}${queryOf({ feed: scope.feed, folder: scope.folder })}`));
export const getRelated = (id: number) =>
  call<{ related: RelatedStory[] }>('GET', `/stories/${id}/related`).then((a) => a.related);
/** Marks as read, or hides, only items below `before`: those that were shown. A story with others is not hidden. */
export const markStory = (id: number, marks: StoryMarks, before?: number) =>
  story(call('PATCH', `/stories/${id}`, marks.read || marks.hidden ? { ...marks, before } : marks));
export const uniteStories = (id: number, other: number) =>
  story(call('POST', `/stories/${id}/unite`, { with: other }));
export const separateItem = (item: number) => story(call('POST', `/items/${item}/separate`, {}));
export const markAllRead = (scope: Pick<Filter, 'feed' | 'folder'>, before: number) =>
  call<{ read: number; undo: number }>('POST', '/timeline/read', { ...scope, before });
export const undoMarkAll = (undo: number) => call<{ unread: number }>('POST', '/timeline/unread', { undo });

export const getSettings = () => call<Settings>('GET', '/settings');
export const changeSettings = (settings: Partial<Settings>) => call<Settings>('PATCH', '/settings', settings);

export const logIn = (token: string) => call<void>('POST', '/login', { token });
export const logOut = () => call<void>('POST', '/logout', {});
export const getSession = () => call<Session>('GET', '/session');

const indexPath = (index: string, what: string, query: Record<string, string | undefined>) => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return `/indexes/${encodeURIComponent(index)}/${what}?${new URLSearchParams(given)}`;
};

export const getIndexes = () => call<{ indexes: (Index | BrokenIndex)[] }>('GET', '/indexes').then((a) => a.indexes);

/** The indexes of `kindred router`, and what the shards of one hold. */
export const getRoutedIndexes = () => call<{ indexes: RoutedIndex[] }>('GET', '/indexes').then((a) => a.indexes);
export const getShards = (index: string) => call<ShardsOfIndex>('GET', `/indexes/${encodeURIComponent(index)}/shards`);
export const getMoves = (index: string) => call<MovesOfIndex>('GET', `/indexes/${encodeURIComponent(index)}/moves`);

/** Every hit comes with the reasons why it matched. */
export function searchIndex(index: string, request: SearchRequest, signal?: AbortSignal): Promise<Answer> {
  const { q, mode, k, offset, as_of, expand, fuzzy } = request;
  const numbers = { k: String(k), offset: offset ? String(offset) : '', expand: expand ? String(expand) : '' };
  const query = { q, mode, ...numbers, as_of, fuzzy: fuzzy ? String(fuzzy) : '', facets: request.facets?.join(','), explain: '1' };
  const filters = (request.filters ?? []).map(({ name, value }) => `&filter=${encodeURIComponent(`${name}=${value}`)}`);
  return call('GET', indexPath(index, 'search', query) + filters.join(''), undefined, signal);
}

export const getDocument = (index: string, id: string, as_of?: string, signal?: AbortSignal) =>
  call<{ document: IndexedDocument }>('GET', indexPath(index, 'document', { id, as_of }), undefined, signal)
    .then((a) => a.document);

export function getNeighbours(index: string, id: string, as_of?: string, signal?: AbortSignal): Promise<Neighbours> {
  return call('GET', indexPath(index, 'neighbours', { id, hops: '1', limit: '24', as_of }), undefined, signal);
}
