// Short messages at the foot of the page. The newest replaces the one before it, together with its undo button.
import { ApiError } from '../api/client';

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
  undo?: () => void;
}

class Toasts {
  current = $state.raw<Toast | null>(null);
  #count = 0;

  say(text: string, undo?: () => void): void {
    this.#show({ text, bad: false, undo });
  }

  fail(what: string, error: unknown): void {
    this.#show({ text: `${what} ${reasonOf(error)}`, bad: true });
  }

  undo(): void {
    const undo = this.current?.undo;
    this.current = null;
    undo?.();
  }

  dismiss(id: number): void {
    if (this.current?.id === id) this.current = null;
  }

  #show(toast: Omit<Toast, 'id'>): void {
    this.current = { id: ++this.#count, ...toast };
  }
}

/** An API error as a sentence. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something unexpected happened.';
  const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export const toasts = new Toasts();
