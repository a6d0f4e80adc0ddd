import { jsonrepair } from "jsonrepair";
import { attempt } from "../../errors.ts";

/**
 * Reads the object or list in a text that is almost JSON. Undefined if there is none, or if the text was cut off:
 * closing it would invent a value.
 */
export function repairJson(text: string): Record<string, unknown> | undefined {
  if (!isRepairable(text) || isCutOff(text)) return undefined;
  const value = attempt((): unknown => JSON.parse(jsonrepair(text)));
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** The longest text that is repaired: a repair rereads the text for every level and fault. */
const LONGEST = 100_000;
const DEEPEST = 100;

/** Whether a text is short and flat enough for a repair. */
export function isRepairable(text: string): boolean {
  if (text.length > LONGEST) return false;
  let depth = 0;
  // Brackets within strings count too: a text that is refused for them is no plan anyway.
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > DEEPEST) return false;
  }
  return true;
}

const OPENING: Readonly<Record<string, string>> = { "}": "{", "]": "[" };

/** Whether a text ends within a string, or lacks more than its last bracket, which models sometimes forget. */
function isCutOff(text: string): boolean {
  const open: string[] = [];
  let quote = "";
  let before = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote !== "") {
      if (char === "\\") at += 1;
      else if (char === quote) quote = "";
    } else if (char === '"' || (char === "'" && "{[,:".includes(before))) {
      quote = char;
    } else if (char === "{" || char === "[") {
      open.push(char);
    } else if (OPENING[char]) {
      // A bracket that closes an outer level also closes the forgotten inner ones.
      const match = open.lastIndexOf(OPENING[char]);
      if (match >= 0) open.length = match;
    }
    if (char.trim() !== "") before = char;
  }
  return quote !== "" || open.length > 1;
}
