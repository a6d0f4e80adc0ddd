/** Sets an entry, and forgets the oldest where there are too many. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, most = 200): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}
