const queues = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Runs tasks with the same owner and key one by one. A failed task does not stop the next. */
export async function exclusive<T>(owner: object, key: string, task: () => Promise<T>): Promise<T> {
  const queue = queues.get(owner) ?? new Map<string, Promise<unknown>>();
  queues.set(owner, queue);
  const previous = queue.get(key);
  const current = (async () => {
    await previous?.catch(() => {});
    return await task();
  })();
  queue.set(key, current);
  try {
    return await current;
  } finally {
    if (queue.get(key) === current) queue.delete(key);
  }
}
