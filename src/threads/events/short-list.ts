const SHORT = 5;

/** The first few of a list, and how many more there are. */
export function shortList(all: readonly string[]): string {
  const more = all.length > SHORT ? ` and ${all.length - SHORT} more` : "";
  return all.slice(0, SHORT).join(", ") + more;
}
