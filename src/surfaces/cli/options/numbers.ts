/** Reads the number of an option. Throws for one that is none, or not above 0. */
export function wholeNumber(name: string) {
  return <Value extends number | undefined>(value: Value): Value => {
    if (value === undefined || (Number.isInteger(value) && value > 0)) return value;
    throw new Error(`--${name} is a whole number above 0.`);
  };
}

/** The same for the number of a port. */
export function portNumber(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Error("--port is a number from 0 to 65535.");
}
