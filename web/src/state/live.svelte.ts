// The event stream of the server, and its state.
import { eventsAddress } from '../api/client';
import type { News } from '../api/types';

export type Connection = 'live' | 'reconnecting' | 'offline';

interface Listener {
  news(news: News): void;
  /** Events may have been missed: load everything again. */
  reset(): void;
}

// Shorter interruptions are not reported.
const patience = 1_500;

class Live {
  connection = $state<Connection>('live');
  #source: EventSource | undefined;
  #listener: Listener | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(listener: Listener): void {
    this.#listener = listener;
    addEventListener('online', () => this.open());
    addEventListener('offline', () => {
      this.connection = 'offline';
    });
    this.open();
  }

  open(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#source?.close();
    const source = new EventSource(eventsAddress);
    this.#source = source;
    source.addEventListener('open', () => this.#opened());
    source.addEventListener('error', () => this.#failed());
    source.addEventListener('news', (event) => this.#listener?.news(JSON.parse(event.data) as News));
    source.addEventListener('reset', () => this.#listener?.reset());
  }

  #opened(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.connection = 'live';
    // Data that was loaded before the stream opened may be out of date, and a new stream has no Last-Event-ID by
    // which the server could tell.
    this.#listener?.reset();
  }

  #failed(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.connection = navigator.onLine ? 'reconnecting' : 'offline';
      // The browser tries again by itself unless the server refused it.
      if (this.#source?.readyState === EventSource.CLOSED) this.open();
    }, patience);
  }
}

export const live = new Live();
