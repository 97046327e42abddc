// The keyboard: single letters act on the story that has focus, or had it last.
import { focusStory, hide, setRead, setStarred, showAgain, uniteWith } from './actions';
import { everywhere, press, type Commands, type KeyHelp } from './key_press';
import { refreshing } from './refreshing.svelte';
import { searchPath } from './question';
import { router, timelinePath } from './route.svelte';
import { screenState } from './screen.svelte';
import { searchCommands } from './search_keys';
import { linkOf, stories } from './stories.svelte';
import { timeline } from './timeline.svelte';
import { toasts } from './toasts.svelte';

/** Keys that work in every view. */
export const commonKeyHelp: KeyHelp[] = [
  { keys: ['/'], text: 'Search' },
  { keys: ['g', 'a'], text: 'Go to all stories' },
  { keys: ['g', 'u'], text: 'Go to unread' },
  { keys: ['g', 's'], text: 'Go to starred' },
  { keys: ['g', 'h'], text: 'Go to hidden' },
  { keys: ['g', 'd'], text: 'Go to the search in documents' },
  { keys: ['Esc'], text: 'Leave what is open or selected' },
  { keys: ['?'], text: 'This help' },
];

export const keyHelp: KeyHelp[] = [
  { keys: ['j', 'k'], text: 'Next, previous story' },
  { keys: ['o', 'Enter'], text: 'Show or fold the other headlines' },
  { keys: ['v'], text: 'Open the original' },
  { keys: ['m'], text: 'Mark as read or unread' },
  { keys: ['s'], text: 'Star' },
  { keys: ['h'], text: 'Hide, or show again' },
  { keys: ['z'], text: 'Undo, while the message shows' },
  { keys: ['r'], text: 'Refresh' },
  { keys: ['a'], text: 'Add a feed' },
];

/** The story the keys act on: of a list the selected one, of a story's own page that one. */
function current(): number | null {
  const route = router.current;
  if (route.view === 'story') return route.id;
  return route.view === 'timeline' ? timeline.selected : null;
}

async function step(by: 1 | -1): Promise<void> {
  if (router.current.view !== 'timeline') return;
  const ids = timeline.ids;
  const from = timeline.selected === null ? -1 : ids.indexOf(timeline.selected);
  const to = from < 0 ? firstInView(ids) : from + by;
  if (to >= ids.length) await timeline.loadMore();
  const id = timeline.ids[to];
  if (id !== undefined) await focusStory(id);
}

function firstInView(ids: number[]): number {
  const place = ids.findIndex((id) => {
    const box = document.getElementById(`story-${id}`)?.getBoundingClientRect();
    return box !== undefined && box.top >= 0;
  });
  return Math.max(0, place);
}

function onStory(act: (id: number) => void): () => void {
  return () => {
    const id = current();
    if (id !== null) act(id);
  };
}

function open(id: number): void {
  const link = linkOf(stories.get(id)?.representative.url ?? '');
  if (!link) return;
  window.open(link, '_blank', 'noopener,noreferrer');
  setRead(id, true);
}

function expand(id: number): void {
  if (timeline.uniting !== null && timeline.uniting !== id) void uniteWith(id);
  else if (router.current.view === 'timeline') timeline.toggle(id);
}

function escape(): void {
  if (timeline.uniting !== null) timeline.uniting = null;
  else if (router.current.view === 'story') history.back();
  else {
    timeline.selected = null;
    (document.activeElement as HTMLElement | null)?.blur();
  }
}

const commands: Commands = {
  ...everywhere,
  j: () => void step(1),
  k: () => void step(-1),
  o: onStory(expand),
  v: onStory(open),
  m: onStory((id) => setRead(id, !stories.get(id)?.read)),
  s: onStory((id) => setStarred(id, !stories.get(id)?.starred)),
  h: onStory((id) => router.current.view === 'timeline' && void (stories.get(id)?.hidden ? showAgain(id) : hide(id))),
  z: () => toasts.undo(),
  r: () => void refreshing.start(),
  a: () => (screenState.adding = true),
  Escape: escape,
};

const places: Record<string, string> = {
  a: timelinePath({}),
  u: timelinePath({ unread: true }),
  s: timelinePath({ starred: true }),
  h: timelinePath({ hidden: true }),
  d: searchPath({}),
};

const here = () => (router.current.view === 'search' ? { ...everywhere, ...searchCommands } : commands);

export const onKey = (event: KeyboardEvent) => press(event, here(), places);
