import { HarnessError } from "../../errors.ts";

/** A text without what Postgres cannot hold: zero characters and lone surrogates. */
export function toText(text: string): string {
  return Buffer.from(text.replaceAll("\0", "")).toString();
}

export function isText(text: string): boolean {
  return toText(text) === text;
}

/** Throws for a name that one of the databases would hold as another one. */
export function checkName(name: string): void {
  if (isText(name)) return;
  const message = `${JSON.stringify(name)} has characters that cannot be stored in the name of a thread.`;
  throw new HarnessError("invalid-request", message);
}
