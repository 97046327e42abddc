// What the reader changes, and answers that may be older than a change.

let made = 0;
const running = new Set<Promise<unknown>>();

/** Waits for a request that changes stories. */
export async function change<T>(request: Promise<T>): Promise<T> {
  made++;
  running.add(request);
  try {
    return await request;
  } finally {
    running.delete(request);
  }
}

/** What `ask` answers, with every change in it. An answer that a change overtook is asked for again. */
export async function upToDate<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = made;
    await Promise.allSettled(running);
    const answer = await ask();
    if (made === before) return answer;
  }
}
