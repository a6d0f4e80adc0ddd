/** Above this a memory of the object would cost more than writing it out again. */
const MAX_PARTS = 1000;

export interface Stored {
  thread: number;
  blob: number;
  /** Whether it is read back without waiting. */
  isPlain: boolean;
}

/**
 * Remembers where a message was stored. Messages are in every checkpoint of their thread and hardly ever change; but
 * they can be changed in place, so each part is compared before the memory is believed. That is exact, because a
 * message is written from its own properties, and many times faster than writing it out and hashing it.
 */
export class Memo {
  /** `parts` is undefined where they cannot be compared, or were not looked at. */
  #stored = new WeakMap<object, Stored & { parts: unknown[] | undefined }>();

  /** Where exactly this object, as it is now, is stored in this thread. */
  find(object: object, thread: number): Stored | undefined {
    const stored = this.#stored.get(object);
    if (stored?.thread !== thread || !stored.parts) return undefined;
    return compare(object, stored.parts, 0) === stored.parts.length ? stored : undefined;
  }

  /** Where this object is stored as it was when it was last looked at. */
  believe(object: object, thread: number): Stored | undefined {
    const stored = this.#stored.get(object);
    return stored?.thread === thread ? stored : undefined;
  }

  /** Remembers where an object is stored, to be believed only. */
  place(object: object, stored: Stored): void {
    this.#stored.set(object, { ...stored, parts: undefined });
  }

  /** Looks at an object that has a place: if it changes from now on, that is seen. */
  watch(object: object, thread: number): void {
    const stored = this.#stored.get(object);
    if (stored?.thread === thread) stored.parts ??= partsOf(object);
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

/** Walks an object as `collect` does, along parts that were collected before; the place behind it, or -1 at a difference. */
function compare(object: object, parts: readonly unknown[], start: number): number {
  const keys = Object.keys(object);
  if (parts[start] !== Object.getPrototypeOf(object) || parts[start + 1] !== keys.length) return -1;
  let at = start + 2;
  for (const key of keys) {
    const value = (object as Record<string, unknown>)[key];
    if (parts[at++] !== key) return -1;
    if (typeof value !== "object" || value === null) {
      if (!Object.is(parts[at++], value)) return -1;
    } else {
      at = isPlain(value) ? compare(value, parts, at) : -1;
      if (at < 0) return -1;
    }
  }
  return at;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
