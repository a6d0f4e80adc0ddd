import { HarnessError } from "../../errors.ts";

/** Removes NUL characters and replaces lone surrogates: Postgres can store neither. */
export function toText(text: string): string {
  return Buffer.from(text.replaceAll("\0", "")).toString();
}

/** Whether both databases store a text as it is. */
export function isText(text: string): boolean {
  return toText(text) === text;
}

/** Throws for a name that one of the databases would change. */
export function checkName(name: string): void {
  if (isText(name)) return;
  const message = `${JSON.stringify(name)} has characters that cannot be stored in the name of a thread.`;
  throw new HarnessError("invalid-request", message);
}
