// Marks the words of a search in a text, as the server compares them: in lower case, without accents.
import type { SearchedWord } from '../api/types';

export interface Part {
  text: string;
  mark: boolean;
}

// Scripts without spaces: there each character is a word.
const single = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/u;
const words = new RegExp(`${single.source}|[\\p{L}\\p{N}\\p{M}]`, 'gu');

const plain = (text: string) => text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').toLowerCase();

interface Word {
  from: number;
  to: number;
  text: string;
}

function wordsOf(text: string): Word[] {
  const found: Word[] = [];
  for (const match of text.matchAll(words)) {
    const from = match.index;
    const to = from + match[0].length;
    const last = found.at(-1);
    const alone = single.test(match[0]);
    // Letters beside each other are one word.
    if (last && last.to === from && !alone && !single.test(text.slice(last.from, last.to))) {
      last.to = to;
      last.text = plain(text.slice(last.from, to));
    } else {
      found.push({ from, to, text: plain(match[0]) });
    }
  }
  return found;
}

function matches(found: Word[], at: number, phrase: string[], prefix: boolean): boolean {
  return phrase.every((part, place) => {
    const text = found[at + place]?.text;
    if (text === undefined) return false;
    return prefix && place === phrase.length - 1 ? text.startsWith(part) : text === part;
  });
}

/** The text in parts; those that a searched word matches are marked. */
export function markedParts(text: string, searched: SearchedWord[]): Part[] {
  if (searched.length === 0) return [{ text, mark: false }];
  const found = wordsOf(text);
  const marked = new Set<number>();
  for (const { text: wanted, prefix } of searched) {
    const phrase = wanted.split(' ');
    found.forEach((_, at) => {
      if (matches(found, at, phrase, prefix)) phrase.forEach((_part, place) => marked.add(at + place));
    });
  }
  const parts: Part[] = [];
  let end = 0;
  for (const place of [...marked].sort((a, b) => a - b)) {
    const { from, to } = found[place]!;
    if (from > end) parts.push({ text: text.slice(end, from), mark: false });
    parts.push({ text: text.slice(from, to), mark: true });
    end = to;
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end), mark: false });
  return parts;
}
