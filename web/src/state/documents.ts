// Texts for documents of an index.
import type { DocumentLink, IndexedDocument, Kind, Leg, Mode } from '../api/types';

export const modeNames: Record<Mode, { label: string; title: string }> = {
  hybrid: { label: 'Hybrid', title: 'By words and by meaning together' },
  text: { label: 'Text', title: 'By the words that are in it' },
  vector: { label: 'Meaning', title: 'By what it is about, in whatever words' },
  graph: { label: 'Links', title: 'What is linked with a document, by its id' },
};

export const legNames: Record<Leg, string> = { text: 'text', vector: 'meaning', graph: 'links' };

export const kindNames: Record<string, string> = {
  entity: 'Documents',
  edge: 'Links',
  entity_fragment: 'Notes on documents',
  edge_fragment: 'Notes on links',
} satisfies Record<Kind, string>;

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

function day(time: string): string {
  const date = Date.parse(time);
  return Number.isNaN(date) ? time : dayFormat.format(date);
}

interface Dated {
  published?: string | null;
  valid_from?: string | null;
  valid_until?: string | null;
}

/** The time of validity as text. Empty if it has no limits, or only starts at the publication. */
export function validity({ published, valid_from, valid_until: until }: Dated): string {
  const from = valid_from === published ? null : valid_from;
  if (from && until) return `valid from ${day(from)} until ${day(until)}`;
  if (from) return `valid from ${day(from)}`;
  return until ? `valid until ${day(until)}` : '';
}

const ownFields = ['id', 'title', 'text', 'tags', 'links', 'embedding', 'valid_from', 'valid_until', 'published', 'source', 'summaries',
  'fragments'];

export function attributesOf(document: IndexedDocument): [string, string][] {
  const others = Object.entries(document).filter(([name, value]) => !ownFields.includes(name) && value !== null);
  return others.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

export const linksOf = (document: IndexedDocument): DocumentLink[] =>
  (document.links ?? []).map((link) => (typeof link === 'string' ? { to: link } : link));

/** Rounded to a readable precision: 12.3, 0.58, 0.0031. */
export const figure = (value: number) => value.toLocaleString(undefined, { maximumSignificantDigits: 3 });
export const percent = (share: number) => share.toLocaleString(undefined, { style: 'percent' });
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;
