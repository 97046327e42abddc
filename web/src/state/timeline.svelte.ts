// The list of stories that is being read. A story keeps its place while it changes. The list is sorted again
// only when the reader asks for it, or is at the top with nothing selected.
import { SvelteSet } from 'svelte/reactivity';
import { ApiError, getStory, getTimeline } from '../api/client';
import type { Filter, News, SearchedWord, Story, TimelinePage } from '../api/types';
import { upToDate } from './changes';
import { clock, dayName } from './clock.svelte';
import { library } from './library.svelte';
import { router, sameFilter } from './route.svelte';
import { screenState } from './screen.svelte';
import { holdStill, pointerRests } from './stillness';
import { put, stories } from './stories.svelte';

const pageSize = 50;
// More stories than this are not loaded one by one: the next full load has them.
const mostSingles = 30;

/** `at` is the time that decided the story's place; its newest item may be newer by now. */
interface Entry {
  id: number;
  at: number;
}

export interface Day {
  key: number;
  name: string;
  ids: number[];
}

class Timeline {
  filter = $state.raw<Filter>({});
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<unknown>(null);
  more = $state<'idle' | 'loading' | 'failed'>('idle');
  next = $state.raw<string | null>(null);
  /** Number of unread stories that match the filter, loaded or not, ignoring the search. */
  unread = $state(0);
  /** New stories that wait until the reader wants them. */
  pending = $state.raw<number[]>([]);
  /** Stories in the list that were read and have news, and belong further up. */
  risen = $state.raw<number[]>([]);
  /** "Mark all as read" applies to items below it, which were shown or are further down. */
  bound = 0;
  /** The words that were searched for. */
  words = $state.raw<SearchedWord[]>([]);
  /** There is too much news: the list must be loaded again. */
  outdated = $state(false);
  selected = $state<number | null>(null);
  uniting = $state<number | null>(null);
  readonly expanded = new SvelteSet<number>();

  #entries = $state.raw<Entry[]>([]);
  #arriving = Promise.resolve();
  #turn = 0;
  readonly #today = $derived(new Date(clock.now).setHours(0, 0, 0, 0));
  readonly ids = $derived(this.#entries.map((entry) => entry.id));
  readonly days = $derived(daysOf(this.#entries, this.#today));

  /** Shows `filter`. A reader who comes back to it finds the list as it was left, only brought up to date. */
  async show(filter: Filter, how: { fresh: boolean }): Promise<void> {
    const asLeft = !how.fresh && this.status === 'ready' && sameFilter(filter, this.filter);
    if (asLeft) return this.catchUp([]);
    this.filter = filter;
    return this.load();
  }

  /** Resolves when the running load has finished or failed. */
  settled: Promise<void> = Promise.resolve();

  load(): Promise<void> {
    this.settled = this.#load();
    return this.settled;
  }

  async #load(): Promise<void> {
    const turn = ++this.#turn;
    this.status = 'loading';
    this.#forget();
    try {
      const page = await upToDate(() => getTimeline(this.filter, pageSize));
      if (turn !== this.#turn) return;
      this.expanded.clear();
      this.#entries = [];
      this.#append(page);
      this.status = 'ready';
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /** Resolves when the next page is there, whoever asked for it first. */
  async loadMore(): Promise<void> {
    if (this.more === 'loading') return this.#arriving;
    if (!this.next || this.status !== 'ready') return;
    this.#arriving = this.#loadMore();
    return this.#arriving;
  }

  async #loadMore(): Promise<void> {
    const turn = this.#turn;
    this.more = 'loading';
    try {
      const page = await upToDate(() => getTimeline(this.filter, pageSize, this.next ?? undefined));
      if (turn !== this.#turn) return;
      this.#append(page);
      this.more = 'idle';
    } catch {
      if (turn === this.#turn) this.more = 'failed';
    }
  }

  /** Applies an event: changes in place, merges, new stories at the top or behind the button. */
  async take(news: News): Promise<void> {
    // A list that is being loaded may have been read before these news came.
    await this.settled;
    if (this.status !== 'ready') return;
    const merges = news.gone.filter(({ story }) => this.#has(story) || this.pending.includes(story));
    const into = merges.flatMap(({ into }) => (into === null ? [] : [into]));
    await this.catchUp(news.changed, into);
    if (merges.length === 0) return;
    await holdStill(this.selected, () => {
      for (const { story, into } of merges) this.replace(story, into);
    });
  }

  /** Loads news: of `changed` only stories that are known here, of `needed` all. */
  async catchUp(changed: number[], needed: number[] = []): Promise<void> {
    const turn = this.#turn;
    try {
      const { page, singles } = await upToDate(() => this.#ask(changed, needed));
      if (turn !== this.#turn || this.status !== 'ready') return;
      await holdStill(this.selected, () => {
        for (const [asked, story] of singles) this.#settle(asked, story);
        page.stories.forEach(put);
        this.unread = page.unread;
        this.#discover(page);
      });
      // The reader is at the top, so new stories come into view.
      if (this.pending.length + this.risen.length > 0 && this.#atRest()) await this.flush();
      if (this.pending.length === 0) this.bound = page.bound;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorised') library.locked = true;
    }
  }

  /** Shows the pending stories and sorts the list. */
  flush(): Promise<void> | void {
    if (this.outdated) return this.load();
    const ids = new Set([...this.ids, ...this.pending]);
    this.#entries = [...ids].map(entryOf).sort((a, b) => b.at - a.at || b.id - a.id);
    this.pending = [];
    this.risen = [];
  }

  remove(id: number): void {
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
    this.pending = this.pending.filter((other) => other !== id);
    this.risen = this.risen.filter((other) => other !== id);
    this.expanded.delete(id);
    if (this.selected === id) this.selected = null;
  }

  /** Puts `into` where `id` was; where both are shown, the one that is being read keeps its place. */
  replace(id: number, into: number | null): void {
    if (into === null || (!this.#has(into) && !stories.has(into))) return this.remove(id);
    const reading = this.selected === id || this.expanded.has(id);
    if (this.#has(into) && !reading) return this.remove(id);
    const wasExpanded = this.expanded.has(id) || this.expanded.has(into);
    const wasSelected = this.selected === id || this.selected === into;
    this.#entries = this.#entries
      .filter((entry) => entry.id !== into)
      .map((entry) => (entry.id === id ? { id: into, at: entry.at } : entry));
    this.pending = this.pending.filter((other) => other !== into && other !== id);
    this.expanded.delete(id);
    if (wasExpanded) this.expanded.add(into);
    if (wasSelected) this.selected = into;
  }

  /** Puts `id` directly below `above`. */
  insertBelow(above: number, id: number): void {
    if (this.#has(id)) return;
    const place = this.#entries.findIndex((entry) => entry.id === above);
    if (place < 0) return;
    const at = this.#entries[place]!.at;
    this.#entries = this.#entries.toSpliced(place + 1, 0, { id, at });
    this.pending = this.pending.filter((other) => other !== id);
  }

  /** Puts a story back where it was taken from. */
  insertAt(place: number, id: number): void {
    if (this.#has(id)) return;
    const at = this.#entries[place]?.at ?? entryOf(id).at;
    this.#entries = this.#entries.toSpliced(place, 0, { id, at });
  }

  toggle(id: number): void {
    if (!this.expanded.delete(id)) this.expanded.add(id);
  }

  #has(id: number): boolean {
    return this.ids.includes(id);
  }

  // True if moving the list would not disturb the reader.
  #atRest(): boolean {
    const busy = this.selected !== null || this.expanded.size > 0 || this.uniting !== null;
    const here = router.current.view === 'timeline' && !screenState.covered && scrollY < 120;
    return here && !busy && pointerRests();
  }

  #append(page: TimelinePage): void {
    page.stories.forEach(put);
    const known = new Set([...this.ids, ...this.pending]);
    const fresh = page.stories.filter((story) => !known.has(story.id));
    this.#entries = [...this.#entries, ...fresh.map((story) => entryOf(story.id))];
    // Further pages show older stories: items that arrived since the first one was loaded stay unread.
    if (this.bound === 0) this.bound = page.bound;
    this.next = page.next;
    this.unread = page.unread;
    this.words = page.words;
  }

  #discover(page: TimelinePage): void {
    const known = new Set([...this.ids, ...this.pending]);
    const bottom = this.next ? (this.#entries.at(-1)?.at ?? 0) : 0;
    const fresh = page.stories.filter((story) => !known.has(story.id) && Date.parse(story.at) >= bottom);
    const places = new Map(this.#entries.map(({ id, at }) => [id, at]));
    const risen = page.stories.filter(({ id, at, new: news }) => news > 0 && Date.parse(at) > (places.get(id) ?? Infinity));
    this.risen = risen.map(({ id }) => id);
    if (fresh.length === 0) return;
    // A full page of news may be followed by more, so there may be a gap before the known stories.
    if (fresh.length >= pageSize) this.outdated = true;
    this.pending = [...fresh.map((story) => story.id), ...this.pending];
  }

  async #ask(changed: number[], needed: number[]) {
    const page = await getTimeline(this.filter, pageSize);
    const inPage = new Set(page.stories.map((story) => story.id));
    const known = changed.filter((id) => stories.has(id));
    return { page, singles: await this.#fetch([...new Set([...needed, ...known])].filter((id) => !inPage.has(id))) };
  }

  async #fetch(ids: number[]): Promise<[number, Story | null][]> {
    return Promise.all(ids.slice(0, mostSingles).map(async (id): Promise<[number, Story | null]> => {
      try {
        return [id, await getStory(id, this.filter)];
      } catch (error) {
        if (error instanceof ApiError && error.code === 'not_found') return [id, null];
        throw error;
      }
    }));
  }

  #settle(asked: number, story: Story | null): void {
    if (story) put(story);
    if (story?.id !== asked) this.replace(asked, story?.id ?? null);
  }

  #forget(): void {
    this.pending = [];
    this.risen = [];
    this.bound = 0;
    this.outdated = false;
    this.selected = null;
    this.uniting = null;
    this.more = 'idle';
  }

  #fail(error: unknown): void {
    if (error instanceof ApiError && error.code === 'unauthorised') library.locked = true;
    this.problem = error;
    this.#entries = [];
    this.status = 'failed';
  }
}

function entryOf(id: number): Entry {
  return { id, at: Date.parse(stories.get(id)?.at ?? '') || 0 };
}

function daysOf(entries: Entry[], today: number): Day[] {
  const days: Day[] = [];
  for (const { id, at } of entries) {
    const key = Math.min(new Date(at).setHours(0, 0, 0, 0), today);
    const current = days.at(-1);
    if (current?.key === key) current.ids.push(id);
    else days.push({ key, name: dayName(key, today), ids: [id] });
  }
  return days;
}

export const timeline = new Timeline();
