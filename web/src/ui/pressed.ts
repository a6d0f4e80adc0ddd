/** A click handler that ignores the second click of a double click. */
export function pressed(work: () => unknown): (event: { detail: number }) => void {
  return ({ detail }) => {
    if (detail < 2) void work();
  };
}
