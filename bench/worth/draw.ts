/** A number from 0 up to 1 that depends on nothing but its keys: the same situation gives the same draw. */
export function draw(...keys: readonly (string | number)[]): number {
  const text = keys.join("|");
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // FNV alone leaves the high bits of short keys alike; this is murmur3's finalizer.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** A whole number from `low` to `high`, both included. */
export function drawBetween(low: number, high: number, ...keys: readonly (string | number)[]): number {
  return low + Math.floor(draw(...keys) * (high - low + 1));
}
