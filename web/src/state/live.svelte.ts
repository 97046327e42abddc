// The stream of news from the server, and whether it flows.
import { eventsAddress } from '../api/client';
import type { News } from '../api/types';

export type Connection = 'live' | 'reconnecting' | 'offline';

interface Listener {
  news(news: News): void;
  /** Something may have been missed: ask for everything again. */
  reset(): void;
}

// A connection that comes back this soon is not worth a word.
const patience = 1_500;

class Live {
  connection = $state<Connection>('live');
  #source: EventSource | undefined;
  #listener: Listener | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(listener: Listener): void {
    this.#listener = listener;
    addEventListener('online', () => this.#open());
    addEventListener('offline', () => {
      this.connection = 'offline';
    });
    this.#open();
  }

  #open(): void {
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
    // What was asked for before the stream was open may be old by now, and a stream opened anew carries no
    // Last-Event-ID by which the server could tell.
    this.#listener?.reset();
  }

  #failed(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.connection = navigator.onLine ? 'reconnecting' : 'offline';
      // The browser tries again by itself unless the server refused it.
      if (this.#source?.readyState === EventSource.CLOSED) this.#open();
    }, patience);
  }
}

export const live = new Live();
