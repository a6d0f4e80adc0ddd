import type { ModelRequestRecord } from "../../src/testing/index.ts";
import { piecesOf, type Counter } from "../count.ts";

/** The prompt tokens of requests, and those of them that stood in the same place of the request before. */
export function cachedShare(
  requests: readonly ModelRequestRecord[],
  counter: Counter,
): { prompt: number; cached: number } {
  const totals = { prompt: 0, cached: 0 };
  let before: readonly string[] = [];
  for (const request of requests) {
    const pieces = piecesOf(request);
    const same = pieces.findIndex((piece, index) => piece !== before[index]);
    totals.prompt += counter.count(pieces);
    totals.cached += counter.count(pieces.slice(0, same < 0 ? pieces.length : same));
    before = pieces;
  }
  return totals;
}

/** The share of requests that have a text in them. */
export function heldShare(requests: readonly ModelRequestRecord[], text: string): number {
  const held = requests.filter(({ messages }) => messages.some((message) => message.text.includes(text)));
  return held.length / requests.length;
}
