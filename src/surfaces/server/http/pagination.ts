import { refuse } from "./answers.ts";

/** The part of a list to return. */
export interface Pagination {
  limit: number;
  offset: number;
}

/** Reads `limit` and `offset` of a body. Answers 422 for anything but whole numbers. */
export function pagination(fields: Record<string, unknown>, defaultLimit = 10): Pagination {
  return { limit: wholeNumber("limit", fields, defaultLimit), offset: wholeNumber("offset", fields, 0) };
}

/** Reads `limit` and `offset` of a URL's query, where numbers are text. */
export function queryPagination(query: Record<string, string>, defaultLimit = 10): Pagination {
  const fields = Object.entries(query).map(([name, text]) => [
    name,
    /^\d+$/.test(text) ? Number(text) : text,
  ]);
  return pagination(Object.fromEntries(fields) as Record<string, unknown>, defaultLimit);
}

function wholeNumber(name: string, { [name]: value }: Record<string, unknown>, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const excerpt = JSON.stringify(value).slice(0, MOST_CHARACTERS);
  refuse(422, `${name}: ${excerpt} is no whole number of 0 or more.`);
}

/** The length of an invalid value in an error message. */
const MOST_CHARACTERS = 40;
