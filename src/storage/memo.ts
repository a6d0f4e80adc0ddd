/** Above this a memory of the object would cost more than writing it out again. */
const MAX_PARTS = 1000;

/**
 * Remembers where a message was stored. Messages are in every checkpoint of their thread and hardly ever change; but
 * they can be changed in place, so each part is compared before the memory is believed. That is exact, because a
 * message is written from its own properties, and many times faster than writing it out and hashing it.
 */
export class Memo {
  #stored = new WeakMap<object, { parts: unknown[]; thread: number; blob: number }>();

  /** The blob that holds exactly this object, as it is now, in this thread. */
  find(object: object, thread: number): number | undefined {
    const stored = this.#stored.get(object);
    if (stored?.thread !== thread) return undefined;
    const parts = partsOf(object);
    const { length } = stored.parts;
    if (parts?.length !== length) return undefined;
    for (let at = 0; at < length; at++) if (!Object.is(parts[at], stored.parts[at])) return undefined;
    return stored.blob;
  }

  remember(object: object, thread: number, blob: number): void {
    const parts = partsOf(object);
    if (parts) this.#stored.set(object, { parts, thread, blob });
  }

  clear(): void {
    this.#stored = new WeakMap();
  }
}

/** Keys and values all the way down; undefined where something cannot be compared part by part. */
function partsOf(object: object): unknown[] | undefined {
  const parts: unknown[] = [];
  return collect(object, parts) ? parts : undefined;
}

function collect(object: object, parts: unknown[]): boolean {
  const keys = Object.keys(object);
  // With the number of keys, two objects of different shape cannot give the same parts.
  parts.push(Object.getPrototypeOf(object), keys.length);
  for (const key of keys) {
    const value = (object as Record<string, unknown>)[key];
    parts.push(key);
    if (typeof value !== "object" || value === null) parts.push(value);
    else if (!isPlain(value) || !collect(value, parts)) return false;
    if (parts.length > MAX_PARTS) return false;
  }
  return true;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
