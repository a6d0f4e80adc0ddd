/** A summary that was written, or could not be had, as it appears on LangGraph's `custom` stream. */
export type SummaryEvent = { version: 1; owner: string; at: number } & (
  | {
      type: "summary";
      /** The number of the thread's summaries. */
      number: number;
      /** The messages, and about how many tokens, that it takes out of the requests. */
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
