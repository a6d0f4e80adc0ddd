/** A chunk of LangGraph's `custom` stream about a summary that was written, or could not be. */
export type SummaryEvent = { version: 1; owner: string; at: number } & (
  | {
      type: "summary";
      /** Its number among the thread's summaries, from 1. */
      number: number;
      /** The messages it removes from requests, and approximately their tokens. */
      messages: number;
      tokens: number;
    }
  | { type: "summary-failure"; reason: string }
);

/** Recognizes a `SummaryEvent` among the chunks of a custom stream. */
export function isSummaryEvent(chunk: unknown): chunk is SummaryEvent {
  if (typeof chunk !== "object" || chunk === null) return false;
  const { type } = chunk as { type?: unknown };
  return type === "summary" || type === "summary-failure";
}
