// Changes by the reader, and answers that may be older than a change.

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

/** The answer of `ask`, including every change. If a change overtook the answer, it is requested again. */
export async function upToDate<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = made;
    await Promise.allSettled(running);
    const answer = await ask();
    if (made === before) return answer;
  }
}
