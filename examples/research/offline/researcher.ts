import { pageOf, readHits } from "../search.ts";
import { call, type Answer, type Conversation, type DoneCall } from "./conversation.ts";
import { pickFindings, renderFindings, type Finding, type Topic } from "./findings.ts";

const WANTS = {
  answers: "Look for sentences that answer it.",
  figures: "Look for figures: counts, shares, rates, dates.",
  mentions: "Look for any mention of these words.",
} satisfies Record<Topic["want"], string>;

/** A job for a researcher, in words it can read back. */
export function describeJob({ part, question, want }: Topic, path: string): string {
  return `Research this part of a question: ${part}
The whole question: ${question}
${WANTS[want]} Write your findings to ${path} and return them.`;
}

function readJob(request: string): Topic & { path: string } {
  const part = /^Research this part of a question: (.+)$/m.exec(request)?.[1] ?? request;
  const question = /^The whole question: (.+)$/m.exec(request)?.[1] ?? part;
  const path = /\/\S+\.md\b/.exec(request)?.[0] ?? "/research/findings.md";
  const wants = Object.keys(WANTS) as Topic["want"][];
  return { part, question, path, want: wants.find((want) => request.includes(WANTS[want])) ?? "answers" };
}

/** Searches for its part and for the whole question, keeps the sentences that fit and that their pages have, and reports them. */
export function researcher({ request, calls }: Conversation): Answer {
  const { path, ...topic } = readJob(request);
  const { part, question, want } = topic;
  const searches = calls.filter(({ name }) => name === "internet_search");
  if (searches.length === 0) {
    const queries = want === "mentions" ? part.split(" ") : new Set([part, `${part} ${question}`]);
    return [...queries].map((query) => call("internet_search", { query }));
  }

  const answered = searches.filter(({ failed }) => !failed);
  const hits = answered.flatMap(({ result }) => readHits(result));
  const picked = pickFindings(hits, topic);
  const text = answered[0]?.result ?? "";
  const pages = calls.filter(({ name }) => name === "web_fetch");
  const unread = new Set(picked.flatMap((finding) => pageOf(finding, text) ?? []));
  if (pages.length === 0 && unread.size > 0) return [...unread].map((url) => call("web_fetch", { url }));
  const report =
    answered.length > 0
      ? renderFindings(picked.filter((finding) => isThere(finding, { pages, text })))
      : searches.map(({ result }) => result).join("\n");
  return calls.some(({ name }) => name === "write_file")
    ? report
    : [call("write_file", { file_path: path, content: `${report}\n` })];
}

/** Whether the page that a quotation is from has it, where the page was read. */
function isThere(finding: Finding, { pages, text }: { pages: readonly DoneCall[]; text: string }): boolean {
  const page = pages.find(({ args, failed }) => !failed && args["url"] === pageOf(finding, text));
  return page === undefined || page.result.includes(finding.quote);
}
