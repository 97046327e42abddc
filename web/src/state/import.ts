import { importOpml } from '../api/client';
import type { ImportResult } from '../api/types';
import { library } from './library.svelte';
import { timeline } from './timeline.svelte';
import { toasts } from './toasts.svelte';

function resultText({ added, already, left_out }: ImportResult): string {
  const parts = [added === 1 ? 'One feed added.' : `${added} feeds added.`];
  if (already) parts.push(`${already} followed already.`);
  if (left_out) parts.push(`${left_out} left out: no web address.`);
  return parts.join(' ');
}

export async function importFile(file: File): Promise<void> {
  try {
    const result = await importOpml(file);
    toasts.say(resultText(result));
    await library.load();
    if (timeline.status === 'failed') await timeline.load();
  } catch (error) {
    toasts.fail(`“${file.name}” was not imported.`, error);
  }
}
