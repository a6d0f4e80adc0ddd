import { inSight } from "../words.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that is nothing but text in HTML, between tags and in quotes. */
export function escaped(text: string): string {
  return inSight(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
