// What is open over the page or narrows it, and nothing that the server would know.

export interface Question {
  title: string;
  text: string;
  yes: string;
  danger?: boolean;
  answer: () => void;
}

const narrow = matchMedia('(max-width: 55rem)');

class Screen {
  narrow = $state(narrow.matches);
  drawer = $state(false);
  help = $state(false);
  adding = $state(false);
  question = $state.raw<Question | null>(null);

  start(): void {
    narrow.addEventListener('change', () => {
      this.narrow = narrow.matches;
      this.drawer = false;
    });
  }

  readonly covered = $derived(this.help || this.adding || this.question !== null || this.drawer);
}

export const screenState = new Screen();
