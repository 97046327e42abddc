// Connects the parts: passes news from the server to the views that show it.
import { ApiError } from '../api/client';
import type { News } from '../api/types';
import { clock } from './clock.svelte';
import { library } from './library.svelte';
import { live } from './live.svelte';
import { router, storyPath } from './route.svelte';
import { screenState } from './screen.svelte';
import { loadStory } from './stories.svelte';
import { theme } from './theme.svelte';
import { timeline } from './timeline.svelte';

// News that come within this time are one change of the page.
const gathering = 40;

let gathered: News | null = null;
let working = false;

function receive(news: News): void {
  gathered = gathered
    ? {
        changed: [...new Set([...gathered.changed, ...news.changed])],
        gone: [...gathered.gone, ...news.gone],
        feeds: [...new Set([...gathered.feeds, ...news.feeds])],
      }
    : news;
  if (!working) void work();
}

async function work(): Promise<void> {
  working = true;
  try {
    while (gathered) {
      await new Promise((done) => setTimeout(done, gathering));
      const news: News = gathered;
      gathered = null;
      library.refresh();
      await Promise.all([timeline.take(news), refreshStoryPage(news)]);
    }
  } finally {
    // Whatever went wrong, the next news are shown.
    working = false;
  }
}

async function refreshStoryPage(news: News): Promise<void> {
  const route = router.current;
  if (route.view !== 'story') return;
  const about = [...news.changed, ...news.gone.map(({ story }) => story)];
  if (!about.includes(route.id)) return;
  try {
    const story = await loadStory(route.id);
    if (story.id !== route.id) router.go(storyPath(story.id), { replace: true });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

async function askAgain(): Promise<void> {
  library.refresh();
  await timeline.settled;
  if (timeline.status === 'failed') await timeline.load();
  else await timeline.catchUp(timeline.ids.slice(0, 100));
}

/** Loads everything again after a log-in. */
export async function openAll(): Promise<void> {
  await library.load();
  live.open();
  if (router.current.view === 'timeline') await timeline.load();
}

export function startReader(): void {
  theme.apply();
  clock.start();
  router.start();
  screenState.start();
  void library.load().catch(() => {});
  live.start({
    news: receive,
    reset: () => void askAgain(),
  });
}
