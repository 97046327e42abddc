// Navigation. The address bar is the only source of the present view and filter.
import { queryOf } from '../api/client';
import type { Filter } from '../api/types';
import { questionOf, type Question } from './question';
import { currentPlace, type Place } from './stillness';

export type Route =
  | { view: 'timeline'; filter: Filter }
  | { view: 'story'; id: number }
  | { view: 'feeds' }
  | { view: 'search'; question: Question }
  | { view: 'lost' };

function read(location: Location): Route {
  const story = /^\/story\/(\d+)\/?$/.exec(location.pathname);
  if (story) return { view: 'story', id: Number(story[1]) };
  if (/^\/feeds\/?$/.test(location.pathname)) return { view: 'feeds' };
  const query = new URLSearchParams(location.search);
  if (/^\/search\/?$/.test(location.pathname)) return { view: 'search', question: questionOf(query) };
  if (location.pathname !== '/') return { view: 'lost' };
  return { view: 'timeline', filter: filterOf(query) };
}

function filterOf(query: URLSearchParams): Filter {
  const filter: Filter = {};
  const feed = Number(query.get('feed'));
  if (feed > 0) filter.feed = feed;
  const folder = query.get('folder');
  if (folder) filter.folder = folder;
  const q = query.get('q')?.trim();
  if (q) filter.q = q;
  if (query.get('unread') === '1') filter.unread = true;
  if (query.get('starred') === '1') filter.starred = true;
  if (query.get('hidden') === '1') filter.hidden = true;
  return filter;
}

export const timelinePath = (filter: Filter) => `/${queryOf(filter)}`;
export const storyPath = (id: number) => `/story/${id}`;
export const sameFilter = (a: Filter, b: Filter) => queryOf(a) === queryOf(b);

/** A click that follows a link here, and not into another tab or a file. */
export const isPlainClick = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

class Router {
  current = $state.raw<Route>(read(location));
  /** Where the page was scrolled to when this entry of the history was left; the top for a new one. */
  place: Place = { scroll: 0 };
  /** Whether the reader came by a link, not by going back or forth. */
  fresh = true;

  start(): void {
    history.scrollRestoration = 'manual';
    addEventListener('popstate', (event) => {
      clearTimeout(this.#timer);
      this.place = (event.state as Place | null) ?? { scroll: 0 };
      this.fresh = false;
      this.current = read(location);
    });
    addEventListener('scroll', () => this.#remember(), { passive: true });
    document.addEventListener('click', (event) => this.#follow(event));
  }

  go(path: string, how: { replace?: boolean } = {}): void {
    clearTimeout(this.#timer);
    this.fresh = true;
    if (how.replace || path === location.pathname + location.search) {
      history.replaceState(history.state, '', path);
    } else {
      history.replaceState(currentPlace(), '');
      history.pushState(null, '', path);
    }
    this.place = { scroll: 0 };
    this.current = read(location);
  }

  #timer: ReturnType<typeof setTimeout> | undefined;

  // Browsers limit how often the history may be written.
  #remember(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => history.replaceState(currentPlace(), ''), 200);
  }

  #follow(event: MouseEvent): void {
    if (event.defaultPrevented || !isPlainClick(event)) return;
    const link = (event.target as Element).closest?.('a');
    if (!link || link.target || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || !link.dataset.page) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

export const router = new Router();
