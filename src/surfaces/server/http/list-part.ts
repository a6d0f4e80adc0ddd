import { refuse } from "./answers.ts";

/** A page of a list. */
export interface ListPart {
  limit: number;
  offset: number;
}

/** The part of a list that a client asks for, in a body. Answers 422 for what is no number of things. */
export function listPart(given: Record<string, unknown>, usual = 10): ListPart {
  return { limit: wholeNumber("limit", given, usual), offset: wholeNumber("offset", given, 0) };
}

/** The same in the query of an address, where numbers are text. */
export function queryPart(query: Record<string, string>, usual = 10): ListPart {
  const read = Object.entries(query).map(([name, text]) => [name, /^\d+$/.test(text) ? Number(text) : text]);
  return listPart(Object.fromEntries(read) as Record<string, unknown>, usual);
}

function wholeNumber(name: string, { [name]: value }: Record<string, unknown>, usual: number): number {
  if (value === undefined || value === null) return usual;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const shown = JSON.stringify(value).slice(0, LONGEST);
  refuse(422, `${name}: ${shown} is no whole number of 0 or more.`);
}

/** As much of what was sent is shown. */
const LONGEST = 40;
