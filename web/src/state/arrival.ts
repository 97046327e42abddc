// What happens when the search page is opened, or shows another question.
import { tick } from 'svelte';
import { router, type Route } from './route.svelte';
import { search } from './search.svelte';
import { returnTo } from './stillness';

export const searchTitle = ({ q }: { q: string }) => (q ? `${q}, documents` : 'Search documents');

/** Opening the search page focuses the field. Later searches leave the focus where it is. */
export async function arriveAtSearch(before: Route | undefined): Promise<void> {
  const place = router.place;
  const again = before?.view === 'search';
  const reading = again && before.question.doc !== search.question?.doc;
  const ready = search.show();
  await tick();
  if (!again) document.getElementById('search')?.focus({ preventScroll: true });
  if (reading) return;
  if (place.scroll > 0) await ready;
  await tick();
  await returnTo(place);
}
