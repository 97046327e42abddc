// The query of the search page, read from the address bar.
import type { Facet, Mode } from '../api/types';

export interface Question {
  /** Empty: the index that was searched last. */
  index: string;
  q: string;
  /** Absent: the best mode of the index. */
  mode?: Mode;
  /** Words may be misspelt by a letter. */
  fuzzy: boolean;
  /** Links to follow from the results; the documents reached join them. */
  expand: number;
  /** A day, as 2026-03-01; empty: any time. */
  asOf: string;
  filters: Facet[];
  /** The id of the document that is open; empty: none. */
  doc: string;
}

export const mostSteps = 2;
const modes: Mode[] = ['hybrid', 'text', 'vector', 'graph'];
const nothing: Question = { index: '', q: '', fuzzy: false, expand: 0, asOf: '', filters: [], doc: '' };

export function questionOf(query: URLSearchParams): Question {
  const expand = Number(query.get('expand'));
  const day = query.get('as_of') ?? '';
  return {
    index: query.get('index') ?? '',
    q: query.get('q')?.trim() ?? '',
    mode: modes.find((mode) => mode === query.get('mode')),
    fuzzy: query.get('fuzzy') === '1',
    expand: Number.isInteger(expand) && expand > 0 && expand <= mostSteps ? expand : 0,
    asOf: /^\d{4}-\d\d-\d\d$/.test(day) ? day : '',
    filters: query.getAll('filter').flatMap(facetOf),
    doc: query.get('doc') ?? '',
  };
}

function facetOf(text: string): Facet[] {
  const at = text.indexOf('=');
  return at > 0 && at + 1 < text.length ? [{ name: text.slice(0, at), value: text.slice(at + 1) }] : [];
}

export function searchPath(asked: Partial<Question>): string {
  const question = { ...nothing, ...asked };
  const query = new URLSearchParams();
  if (question.index) query.set('index', question.index);
  if (question.q) query.set('q', question.q);
  if (question.mode) query.set('mode', question.mode);
  if (question.fuzzy) query.set('fuzzy', '1');
  if (question.expand) query.set('expand', String(question.expand));
  if (question.asOf) query.set('as_of', question.asOf);
  for (const { name, value } of question.filters) query.append('filter', `${name}=${value}`);
  if (question.doc) query.set('doc', question.doc);
  const text = query.toString();
  return `/search${text && `?${text}`}`;
}

/** Whether both have the same results; which document is open does not count. */
export const sameResults = (a: Question, b: Question) => searchPath({ ...a, doc: '' }) === searchPath({ ...b, doc: '' });

export const sameFacet = (a: Facet, b: Facet) => a.name === b.name && a.value === b.value;

/** The filters without this one if it is among them, else with it, in place of another of its name. */
export function toggled(filters: Facet[], facet: Facet): Facet[] {
  const rest = filters.filter((other) => !sameFacet(other, facet));
  if (rest.length < filters.length) return rest;
  return [...filters.filter((other) => other.name !== facet.name), facet];
}
