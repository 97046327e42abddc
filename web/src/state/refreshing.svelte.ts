// Asking the server to look for news now. It answers at once; news arrive as events.
import { refreshAll, refreshFeed } from '../api/client';
import { router } from './route.svelte';
import { toasts } from './toasts.svelte';

const shownFor = 1_200;

class Refreshing {
  now = $state(false);

  async start(): Promise<void> {
    if (this.now) return;
    this.now = true;
    setTimeout(() => (this.now = false), shownFor);
    const route = router.current;
    const feed = route.view === 'timeline' ? route.filter.feed : undefined;
    try {
      await (feed === undefined ? refreshAll() : refreshFeed(feed));
    } catch (error) {
      toasts.fail('Not refreshed.', error);
    }
  }
}

export const refreshing = new Refreshing();
