// Changes the list without moving the story that is being read.
import { tick } from 'svelte';

export const storyElement = (id: number) => document.getElementById(`story-${id}`);

// A pointer that moved over a story this recently may be on its way to a link.
const rest = 1_000;
let lastMove = -rest;
for (const move of ['pointermove', 'pointerdown', 'wheel']) {
  addEventListener(move, (event) => {
    if ((event.target as Element | null)?.closest?.('[data-story]')) lastMove = event.timeStamp;
  }, { passive: true });
}

export const pointerRests = () => performance.now() - lastMove >= rest;

/** The story that is focused, else the first one whose top is in view. */
function anchor(prefer: number | null): HTMLElement | null {
  const preferred = prefer === null ? null : storyElement(prefer);
  if (preferred && inView(preferred)) return preferred;
  for (const element of document.querySelectorAll<HTMLElement>('[data-story]')) {
    if (inView(element)) return element;
  }
  return null;
}

function inView(element: HTMLElement): boolean {
  const { top } = element.getBoundingClientRect();
  return top >= 0 && top < innerHeight;
}

/** A scroll position, relative to a story if possible: the heights of stories that were never in view are estimates. */
export interface Place {
  scroll: number;
  story?: string;
  top?: number;
}

export function currentPlace(): Place {
  const element = anchor(null);
  if (!element || scrollY === 0) return { scroll: scrollY };
  return { scroll: scrollY, story: element.id, top: element.getBoundingClientRect().top };
}

export async function returnTo(place: Place): Promise<void> {
  scrollTo({ top: place.scroll, behavior: 'instant' });
  if (!place.story) return;
  // Each step brings stories into view, which then get their true height.
  for (let step = 0; step < 4; step++) {
    const top = document.getElementById(place.story)?.getBoundingClientRect().top;
    if (top === undefined) return;
    scrollBy({ top: top - place.top!, behavior: 'instant' });
    await new Promise(requestAnimationFrame);
  }
}

/** Makes the change, then scrolls by as much as the change moved the visible stories. */
export async function holdStill(prefer: number | null, change: () => void): Promise<void> {
  const before = anchor(prefer);
  const id = before?.id;
  const top = before?.getBoundingClientRect().top ?? 0;
  // The browser's scroll anchoring would correct the same shift again.
  document.documentElement.style.overflowAnchor = 'none';
  change();
  await tick();
  const after = id ? document.getElementById(id) : null;
  const moved = after ? after.getBoundingClientRect().top - top : 0;
  if (moved) scrollBy({ top: moved, behavior: 'instant' });
  requestAnimationFrame(() => (document.documentElement.style.overflowAnchor = ''));
}
