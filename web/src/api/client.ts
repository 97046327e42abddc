// The JSON API, one function a request. Each rejects with an ApiError and with nothing else.
import type {
  Feed, FeedSettings, Filter, ImportResult, NewFeed, Story, StoryMarks, TimelinePage,
} from './types';

const root = '/api/v1';

/** `code` is one of the API's, or `offline` if the server could not be reached. */
export class ApiError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

async function send(method: string, path: string, body?: BodyInit, type?: string): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (method !== 'GET') headers['Content-Type'] = type ?? 'application/json';
  const init: RequestInit = { method, headers, credentials: 'same-origin' };
  if (body !== undefined) init.body = body;
  let response: Response;
  try {
    response = await fetch(root + path, init);
  } catch {
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

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await send(method, path, text);
  try {
    return (response.status === 204 || response.status === 202 ? undefined : await response.json()) as T;
  } catch {
    throw new ApiError('internal', 'Kindred’s answer could not be read.');
  }
}

/** The filter as a query string, as both the API and the page's own addresses write it. */
export function queryOf(filter: Filter, more: Record<string, string> = {}): string {
  const query = new URLSearchParams();
  if (filter.feed !== undefined) query.set('feed', String(filter.feed));
  if (filter.folder) query.set('folder', filter.folder);
  if (filter.q) query.set('q', filter.q);
  if (filter.unread) query.set('unread', '1');
  if (filter.starred) query.set('starred', '1');
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
export const removeFeed = (id: number) => call<void>('DELETE', `/feeds/${id}`);
export const refreshFeed = (id: number) => call<void>('POST', `/feeds/${id}/refresh`, {});
export const refreshAll = () => call<void>('POST', '/refresh', {});

export async function importOpml(document: Blob): Promise<ImportResult> {
  const response = await send('POST', '/opml', document, 'text/x-opml');
  return (await response.json()) as ImportResult;
}

export function getTimeline(filter: Filter, limit: number, before?: string): Promise<TimelinePage> {
  const more: Record<string, string> = { limit: String(limit) };
  if (before) more.before = before;
  return call('GET', `/timeline${queryOf(filter, more)}`);
}

const story = (answer: Promise<{ story: Story }>) => answer.then((a) => a.story);
export const getStory = (id: number) => story(call('GET', `/stories/${id}`));
export const markStory = (id: number, marks: StoryMarks) => story(call('PATCH', `/stories/${id}`, marks));
export const uniteStories = (id: number, other: number) =>
  story(call('POST', `/stories/${id}/unite`, { with: other }));
export const separateItem = (item: number) => story(call('POST', `/items/${item}/separate`, {}));
export const markAllRead = (scope: Pick<Filter, 'feed' | 'folder'>) =>
  call<{ read: number }>('POST', '/timeline/read', scope);
