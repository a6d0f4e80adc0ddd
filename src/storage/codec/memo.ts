/** The size above which comparing an object would cost more than serializing it again. */
const MAX_PARTS = 1000;

/** The blob that a message is stored in. */
export interface BlobLocation {
  thread: number;
  blob: number;
  /** Whether it can be read back synchronously. */
  isPlain: boolean;
}

/**
 * Remembers the blob of each message object. Messages are in every checkpoint of their thread and hardly ever change;
 * but they can be changed in place, so all properties are compared before a hit counts. That is exact, because a message
 * is serialized from its own properties, and many times faster than serializing and hashing it.
 */
export class Memo {
  /** `parts` is undefined where they cannot be compared, or were not collected. */
  #locations = new WeakMap<object, BlobLocation & { parts: unknown[] | undefined }>();

  /** Returns the blob of an object that has not changed since it was watched. */
  find(object: object, thread: number): BlobLocation | undefined {
    const location = this.#locations.get(object);
    if (location?.thread !== thread || !location.parts) return undefined;
    return compare(object, location.parts, 0) === location.parts.length ? location : undefined;
  }

  /** Returns the blob of an object as it was when it was last compared. */
  findUnchecked(object: object, thread: number): BlobLocation | undefined {
    const location = this.#locations.get(object);
    return location?.thread === thread ? location : undefined;
  }

  /** Remembers the blob of an object, for `findUnchecked` only. */
  remember(object: object, location: BlobLocation): void {
    this.#locations.set(object, { ...location, parts: undefined });
  }

  /** Records the properties of an object, so that `find` detects later changes. */
  watch(object: object, thread: number): void {
    const location = this.#locations.get(object);
    if (location?.thread === thread) location.parts ??= partsOf(object);
  }

  clear(): void {
    this.#locations = new WeakMap();
  }
}

/** All keys and values of an object, including nested ones; undefined where one cannot be compared. */
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

/** Walks an object as `collect` does, and compares its parts; returns the index behind them, or -1 at a difference. */
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
