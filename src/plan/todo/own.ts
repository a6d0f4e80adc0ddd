/** The entry of a record under a key that anybody may have chosen: `constructor` is not one unless it was set. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
