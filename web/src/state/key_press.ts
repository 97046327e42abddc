// Single keys as commands, and pairs that begin with g as places to go to.
import { router } from './route.svelte';
import { screenState } from './screen.svelte';
import { search } from './search.svelte';

export interface KeyHelp {
  keys: string[];
  text: string;
}

export type Commands = Record<string, () => void>;

// How long after g the second key counts.
const patience = 1_500;
let leader = -Infinity;

function typing(target: EventTarget | null): boolean {
  const element = target as HTMLElement;
  return Boolean(element?.isContentEditable || element?.closest?.('input:not([type=radio]), textarea, select'));
}

function commandFor(event: KeyboardEvent, commands: Commands, places: Record<string, string>): (() => void) | undefined {
  // Choices beside each other have arrows of their own.
  if (event.key.startsWith('Arrow') && (event.target as Element).matches?.('input')) return undefined;
  if (event.key === 'Enter') {
    // Links and buttons have an Enter of their own.
    const onArticle = (event.target as Element).matches?.('[data-story], [data-hit]');
    return onArticle ? commands.o : undefined;
  }
  const place = event.timeStamp - leader < patience ? places[event.key] : undefined;
  leader = event.key === 'g' ? event.timeStamp : -Infinity;
  return place ? () => router.go(place) : commands[event.key];
}

/** Does what a key means: `commands` are those of the present view, `places` what follows g. */
export function press(event: KeyboardEvent, commands: Commands, places: Record<string, string>): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target) || screenState.covered || search.question?.doc) return;
  const command = commandFor(event, commands, places);
  if (!command) return;
  event.preventDefault();
  command();
}

/** Keys that work in every view. */
export const everywhere: Commands = {
  '/': () => document.getElementById('search')?.focus(),
  '?': () => (screenState.help = true),
};
