// The reader's actions on stories. The page shows their effect at once and undoes it if the server refuses.
import { tick } from 'svelte';
import { markAllRead, markStory, separateItem, undoMarkAll, uniteStories } from '../api/client';
import type { Item, Story, StoryMarks } from '../api/types';
import { change } from './changes';
import { library } from './library.svelte';
import { screenState } from './screen.svelte';
import { storyElement } from './stillness';
import { put, stories } from './stories.svelte';
import { timeline } from './timeline.svelte';
import { toasts } from './toasts.svelte';

/** The story as it is then, or null if it was not marked. */
async function mark(id: number, marks: StoryMarks, failure: string): Promise<Story | null> {
  const before = stories.get(id);
  if (!before) return null;
  put({ ...before, ...marks, ...(marks.read === undefined ? {} : seenAs(before, marks.read)) });
  if (marks.read !== undefined && marks.read !== before.read) countRead(marks.read ? -1 : 1);
  try {
    // Only the items that are shown: news may have joined the story in the meantime.
    const marked = await change(markStory(id, marks, before.bound));
    library.refresh();
    return marked;
  } catch (error) {
    put(before);
    library.refresh();
    toasts.fail(failure, error);
    return null;
  }
}

function seenAs({ representative, others }: Story, seen: boolean): Partial<Story> {
  return { new: 0, representative: { ...representative, seen }, others: others.map((item) => ({ ...item, seen })) };
}

function countRead(by: 1 | -1): void {
  library.unread += by;
  timeline.unread += by;
}

export function setRead(id: number, read: boolean): void {
  if (stories.get(id)?.read !== read) void mark(id, { read }, 'Not marked.');
}

export function setStarred(id: number, starred: boolean): void {
  void mark(id, { starred }, 'Not starred.');
}

export async function hide(id: number): Promise<void> {
  const place = timeline.ids.indexOf(id);
  const neighbour = timeline.ids[place + 1] ?? timeline.ids[place - 1];
  const hadFocus = storyElement(id)?.contains(document.activeElement) ?? false;
  timeline.remove(id);
  if (hadFocus && neighbour !== undefined) void focusStory(neighbour);
  if (!(await markHidden(id))) return timeline.insertAt(place, id);
  toasts.say('Story hidden.', () => void unhide(id, place));
}

// News that are not shown yet keep the story in the timeline.
async function markHidden(id: number): Promise<boolean> {
  const marked = await mark(id, { hidden: true }, 'Not hidden.');
  if (!marked) return false;
  if (marked.hidden) return true;
  put({ ...(stories.get(id) ?? marked), hidden: false });
  toasts.say('Not hidden: there is news of it.');
  return false;
}

async function unhide(id: number, place: number): Promise<void> {
  if (!(await mark(id, { hidden: false }, 'Still hidden.')) || place < 0) return;
  timeline.insertAt(place, id);
  await focusStory(id);
}

/** Shows a hidden story again and removes it from the view of hidden stories. */
export async function showAgain(id: number): Promise<void> {
  const place = timeline.ids.indexOf(id);
  const neighbour = timeline.ids[place + 1] ?? timeline.ids[place - 1];
  const listed = timeline.filter.hidden && place >= 0;
  if (listed) timeline.remove(id);
  if (listed && neighbour !== undefined) void focusStory(neighbour);
  if (await mark(id, { hidden: false }, 'Still hidden.')) toasts.say('The story is shown again.', () => void hideAgain(id, place));
  else if (listed) timeline.insertAt(place, id);
}

async function hideAgain(id: number, place: number): Promise<void> {
  if (!(await markHidden(id)) || !timeline.filter.hidden || place < 0) return;
  timeline.insertAt(place, id);
  await focusStory(id);
}

/** "Not this story": the item gets a story of its own, shown below the one it left. */
export async function separate(story: Story, item: Item): Promise<void> {
  try {
    const own = await change(separateItem(item.id));
    put(own);
    put(without(stories.get(story.id) ?? story, item));
    timeline.insertBelow(story.id, own.id);
    toasts.say('Moved to a story of its own.', () => void uniteNow(story.id, own.id));
  } catch (error) {
    toasts.fail('Not moved.', error);
  }
}

function without(story: Story, item: Item): Story {
  const others = story.others.filter((other) => other.id !== item.id);
  const feeds = new Set([story.representative, ...others].map((other) => other.feed));
  const complete = story.count === story.others.length + 1;
  return { ...story, others, count: story.count - 1, sources: complete ? feeds.size : story.sources };
}

export function startUniting(id: number): void {
  timeline.uniting = id;
  timeline.selected = id;
}

/** "Same story": the story chosen before and `target` become one, where `target` is. */
export async function uniteWith(target: number): Promise<void> {
  const source = timeline.uniting;
  timeline.uniting = null;
  if (source === null || source === target) return;
  const single = [source, target].map((id) => stories.get(id)).find((story) => story?.count === 1);
  const united = await uniteNow(target, source);
  if (!united) return;
  const undo = single && (() => void separate(united, single.representative));
  toasts.say('These are one story now.', undo);
}

async function uniteNow(target: number, source: number): Promise<Story | null> {
  try {
    const united = await change(uniteStories(target, source));
    put(united);
    for (const id of [source, target]) if (id !== united.id) timeline.replace(id, united.id);
    library.refresh();
    await focusStory(united.id);
    return united;
  } catch (error) {
    toasts.fail('Not united.', error);
    return null;
  }
}

export function askMarkAllRead(scopeName: string): void {
  screenState.question = {
    title: 'Mark all as read?',
    text: `Every story in “${scopeName}” will be marked as read, the ones further down too. News that come while you read this stay unread.`,
    yes: 'Mark all as read',
    answer: () => void markEverything(),
  };
}

async function markEverything(): Promise<void> {
  const { feed, folder } = timeline.filter;
  try {
    const { read, undo } = await change(markAllRead({ feed, folder }, timeline.bound));
    await showMarks();
    toasts.say(read === 1 ? 'One story marked as read.' : `${read} stories marked as read.`, () => void unmark(undo));
  } catch (error) {
    toasts.fail('Not marked.', error);
  }
}

async function unmark(undo: number): Promise<void> {
  try {
    const { unread } = await change(undoMarkAll(undo));
    await showMarks();
    toasts.say(unread === 1 ? 'One story is unread again.' : `${unread} stories are unread again.`);
  } catch (error) {
    toasts.fail('Not undone.', error);
  }
}

// The server knows which stories were marked. Those that are listed stay where they are.
async function showMarks(): Promise<void> {
  await Promise.all([timeline.catchUp(timeline.ids), library.load()]);
}

/** Moves focus to a story that is shown, and into view if it is out of it. */
export async function focusStory(id: number): Promise<void> {
  timeline.selected = id;
  await tick();
  const element = storyElement(id);
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: 'nearest' });
}
