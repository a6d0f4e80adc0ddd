const SHORT = 5;

/** The first five of a list, and the number of the others. */
export function shortList(all: readonly string[]): string {
  const more = all.length > SHORT ? ` and ${all.length - SHORT} more` : "";
  return all.slice(0, SHORT).join(", ") + more;
}
