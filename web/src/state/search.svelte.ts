// The results of a search. They stay until the next answer arrives, so that nothing flickers while typing.
import { tick } from 'svelte';
import { ApiError, searchIndex } from '../api/client';
import type { Answer, Facet, Hit, Index, Mode } from '../api/types';
import { indexes } from './indexes.svelte';
import { library } from './library.svelte';
import { sameResults, searchPath, toggled, type Question } from './question';
import { router } from './route.svelte';

const pageSize = 20;
const facetNames = ['tag', 'type', 'source'];

// A query without words: there is nothing to search by meaning or links.
const everything = /^\*?$/;

export const hitElement = (place: number) => document.getElementById(`hit-${place}`);
export const momentOf = (day: string) => (day ? `${day}T00:00:00Z` : undefined);

class Search {
  status = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
  answer = $state.raw<Answer | null>(null);
  hits = $state.raw<Hit[]>([]);
  problem = $state.raw<unknown>(null);
  /** The syntax error of the query, as the server reports it, with a caret below the character. */
  refusal = $state('');
  more = $state<'idle' | 'loading' | 'failed'>('idle');
  /** Whether the last page was a full one, so that there may be another. */
  hasMore = $state(false);
  selected = $state<number | null>(null);

  readonly question = $derived(router.current.view === 'search' ? router.current.question : null);
  readonly index = $derived<Index | undefined>(indexes.find(this.question?.index ?? ''));
  readonly mode = $derived<Mode>(this.#modeOf(this.index, this.question?.mode));
  /** There is no query, and no filter to browse by. */
  readonly blank = $derived(!this.question?.q && !this.question?.filters.length);

  #asked: Question | null = null;
  #flight: AbortController | null = null;
  // Documents opened one from the other since the results were left.
  #trail: string[] = [];

  /** Runs the search in the address bar; resolves when the results are there. */
  async show(): Promise<void> {
    if (indexes.status !== 'ready') await indexes.load();
    const { question, index } = this;
    if (!question || !index) return;
    indexes.remember(index.name);
    this.#trail = this.#trail.slice(0, this.#trail.lastIndexOf(question.doc) + 1);
    const same = this.#asked && sameResults(question, this.#asked) && this.status !== 'failed';
    this.#asked = question;
    if (!same) await this.load();
  }

  async load(): Promise<void> {
    this.#flight?.abort();
    if (this.blank) return this.#clear();
    const flight = (this.#flight = new AbortController());
    this.status = 'loading';
    this.more = 'idle';
    try {
      const answer = await this.#ask(flight.signal, 0);
      if (flight === this.#flight) this.#take(answer);
    } catch (error) {
      if (flight === this.#flight) this.#fail(error);
    }
  }

  async loadMore(): Promise<void> {
    const flight = this.#flight;
    if (!flight || !this.hasMore || this.refusal || this.more === 'loading' || this.status !== 'ready') return;
    this.more = 'loading';
    try {
      const { hits } = await this.#ask(flight.signal, this.hits.length);
      if (flight !== this.#flight) return;
      this.hits = [...this.hits, ...hits];
      this.hasMore = hits.length === pageSize;
      this.more = 'idle';
    } catch {
      if (flight === this.#flight) this.more = 'failed';
    }
  }

  /** Goes to the question with these parts changed. */
  ask(change: Partial<Question>, how: { replace?: boolean } = {}): void {
    router.go(this.pathTo(change), how);
  }

  pathTo(change: Partial<Question>): string {
    return searchPath({ ...this.question, index: this.index?.name, doc: '', ...change });
  }

  toggle(facet: Facet): void {
    this.ask({ filters: toggled(this.question?.filters ?? [], facet) });
  }

  open(id: string): void {
    this.#trail.push(id);
    this.ask({ doc: id });
  }

  /** Back to the results, over all documents that were opened one from the other. */
  close(): void {
    const steps = this.#trail.length;
    this.#trail = [];
    if (steps > 0) history.go(-steps);
    else this.ask({}, { replace: true });
  }

  async focusHit(place: number): Promise<void> {
    if (place >= this.hits.length) await this.loadMore();
    if (place < 0 || place >= this.hits.length) return;
    this.selected = place;
    await tick();
    const element = hitElement(place);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: 'nearest' });
  }

  #ask(signal: AbortSignal, offset: number): Promise<Answer> {
    const { q, filters, asOf, fuzzy } = this.question!;
    const mode = everything.test(q) ? 'text' : this.mode;
    const expand = mode === 'graph' ? this.question!.expand || 1 : this.question!.expand;
    const options = { as_of: momentOf(asOf), expand, fuzzy: fuzzy ? 1 : 0 };
    const request = { q, mode, k: pageSize, offset, filters, facets: facetNames, ...options };
    return searchIndex(this.index!.name, request, signal);
  }

  #take(answer: Answer): void {
    this.answer = answer;
    this.hits = answer.hits;
    this.hasMore = answer.hits.length === pageSize;
    this.selected = null;
    this.refusal = '';
    this.status = 'ready';
  }

  #clear(): void {
    this.answer = null;
    this.hits = [];
    this.hasMore = false;
    this.selected = null;
    this.refusal = '';
    this.status = 'idle';
  }

  // While the query has a syntax error (it is being typed), the earlier results stay.
  #fail(error: unknown): void {
    if (error instanceof ApiError && error.code === 'unauthorised') library.locked = true;
    const walking = this.mode === 'graph' && error instanceof ApiError && error.code === 'not_found';
    const unreadable = walking || (error instanceof ApiError && error.code === 'invalid');
    this.refusal = unreadable ? error.message : '';
    this.problem = error;
    this.status = unreadable ? 'ready' : 'failed';
  }

  #modeOf(index: Index | undefined, wanted: Mode | undefined): Mode {
    const modes = index?.modes ?? [];
    return modes.find((mode) => mode === wanted) ?? modes[0] ?? 'text';
  }
}

export const search = new Search();
