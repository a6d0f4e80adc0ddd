import { readFileSync } from "node:fs";

/** The version in package.json, which is two folders up both in the source and in the built package. */
export function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
