/** Sets an entry as the newest of its map, and deletes the oldest if there are more than `max`. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, max = 200): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value!);
}
