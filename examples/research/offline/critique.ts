import { basename } from "node:path";
import { call, type Answer, type Conversation } from "./conversation.ts";
import { findDefects, renderDefects } from "./defects.ts";
import { readFindings } from "./findings.ts";

/** A job for the critique, in words it can read back. */
export function describeReview(question: string, report: string, findings: readonly string[]): string {
  return `Review ${report} against the findings in ${findings.join(" ")}\nThe question: ${question}\nWrite your points to /critique.md and return them.`;
}

/** What the library has, by its MCP server. */
const LIST = "mcp__library__list_directory";

/** Reads the report and the findings, looks whether their sources are in the library, and lists what is wrong. */
export function critique({ request, calls }: Conversation): Answer {
  const question = /^The question: (.+)$/m.exec(request)?.[1] ?? "";
  const paths = [...(/^Review .+$/m.exec(request)?.[0] ?? "").matchAll(/\/\S+\.md\b/g)].map(([path]) => path);
  const [report, ...findings] = calls.filter(({ name }) => name === "read_file");
  if (!report) return paths.map((file_path) => call("read_file", { file_path }));
  if (report.failed) return report.result;

  const list = calls.find(({ name }) => name === LIST);
  if (!list) return [call(LIST, { path: "." })];
  // A page of the web is not in the library, and a library that cannot be asked knows nothing.
  const isKnown = (source: string): boolean =>
    list.failed || !source.startsWith("documents/") || list.result.includes(basename(source));
  const known = findings
    .filter(({ failed }) => !failed)
    .flatMap(({ result }) => readFindings(result))
    .filter(({ source }) => isKnown(source));
  const points = renderDefects(findDefects(withoutNumbers(report.result), question, known));
  return calls.some(({ name }) => name === "write_file")
    ? points
    : [call("write_file", { file_path: "/critique.md", content: `${points}\n` })];
}

/** A file as `read_file` shows it, without the line numbers. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/^ *\d+\t/gm, "");
}
