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
    const parts = partsOf(object);
    const { length } = stored.parts;
    if (parts?.length !== length) return undefined;
    for (let at = 0; at < length; at++) if (!Object.is(parts[at], stored.parts[at])) return undefined;
    return stored;
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

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
