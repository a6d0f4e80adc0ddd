/** Does something when a button is pressed: a double click is one press. */
export function pressed(work: () => unknown): (event: { detail: number }) => void {
  return ({ detail }) => {
    if (detail < 2) void work();
  };
}
