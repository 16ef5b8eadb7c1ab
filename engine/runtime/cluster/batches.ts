// What an iterable has ready, together: whoever writes each batch to a disk waits for the disk once.

/** Turns of promises within which an iterable that has more hands it over. */
const readyWithin = 25;

/** Batches of what `items` has ready, at least one and at most `max` each, in order. */
export async function* inBatches<Item>(items: AsyncIterable<Item>, max: number): AsyncGenerator<Item[], void, void> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (let result = await next; result.done !== true; result = await next) {
      const batch = [result.value];
      next = iterator.next();
      while (batch.length < max) {
        const ready = await Promise.race([next, nothingReady()]);
        if (ready === undefined || ready.done === true) break;
        batch.push(ready.value);
        next = iterator.next();
      }
      yield batch;
    }
  } finally {
    // Whoever left early wants no more; a failure that comes after that is nobody's.
    next.catch(() => undefined);
    void iterator.return?.().catch(() => undefined);
  }
}

async function nothingReady(): Promise<undefined> {
  for (let turn = 0; turn < readyWithin; turn += 1) await undefined;
  return undefined;
}
