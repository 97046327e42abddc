// The keyboard on the search page: single letters act on the result that has focus, or had it last.
import type { Commands, KeyHelp } from './key_press';
import { hitElement, search } from './search.svelte';

export const searchKeyHelp: KeyHelp[] = [
  { keys: ['j', '↓'], text: 'Next result' },
  { keys: ['k', '↑'], text: 'Previous result, then the field' },
  { keys: ['o', 'Enter'], text: 'Read the document' },
  { keys: ['w'], text: 'Why it matched' },
  { keys: ['n'], text: 'Its neighbours' },
];

const toField = () => document.getElementById('search')?.focus();

function next(): void {
  void search.focusHit(search.selected === null ? 0 : search.selected + 1);
}

function previous(): void {
  if (search.selected) void search.focusHit(search.selected - 1);
  else leave();
}

function leave(): void {
  search.selected = null;
  toField();
}

function open(): void {
  const hit = search.selected === null ? undefined : search.hits[search.selected];
  if (hit) search.open(hit.id);
}

function turn(what: 'why' | 'neighbours'): void {
  if (search.selected === null) return;
  hitElement(search.selected)?.querySelector<HTMLElement>(`[data-turn=${what}]`)?.click();
}

export const searchCommands: Commands = {
  j: next,
  ArrowDown: next,
  k: previous,
  ArrowUp: previous,
  o: open,
  w: () => turn('why'),
  n: () => turn('neighbours'),
  Escape: leave,
};
