const queues = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs tasks with the same owner and key one after the other. A task that fails does not stop the next. */
export async function exclusive<T>(owner: object, key: string, task: () => Promise<T>): Promise<T> {
  const queue = queues.get(owner) ?? new Map<string, Promise<unknown>>();
  queues.set(owner, queue);
  const before = queue.get(key);
  const mine = (async () => {
    await before?.catch(() => {});
    return await task();
  })();
  queue.set(key, mine);
  try {
    return await mine;
  } finally {
    if (queue.get(key) === mine) queue.delete(key);
  }
}
