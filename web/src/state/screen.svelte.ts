// State of the page that the server does not know: dialogs, drawers, width.

export interface Question {
  title: string;
  text: string;
  yes: string;
  danger?: boolean;
  answer: () => void;
  /** A second way to go on. */
  other?: { label: string; answer: () => void };
}

const narrow = matchMedia('(max-width: 55rem)');
// Less than this has no room for facets beside results.
const close = matchMedia('(max-width: 72rem)');

class Screen {
  narrow = $state(narrow.matches);
  close = $state(close.matches);
  drawer = $state(false);
  facets = $state(false);
  help = $state(false);
  adding = $state(false);
  question = $state.raw<Question | null>(null);

  start(): void {
    narrow.addEventListener('change', () => {
      this.narrow = narrow.matches;
      this.drawer = false;
    });
    close.addEventListener('change', () => {
      this.close = close.matches;
      this.facets = false;
    });
  }

  readonly covered = $derived(this.help || this.adding || this.question !== null || this.drawer || this.facets);
}

export const screenState = new Screen();
