import { call, type Answer, type Conversation } from "../conversation.ts";
import { counted } from "../words.ts";

/** The beginning of the review's description. */
export const REVIEW = "Review:";

const SOURCE = call("read_file", { file_path: "/src/total.js" });
const TESTS = call("grep", { pattern: String.raw`test\(|\w+\(\[`, path: "/test", regex: true });

/** Reviews the scratch project as a sub-agent: reads source and tests, and names functions that no test calls. */
export function review({ made }: Conversation): Answer {
  const [source, tests] = [made(SOURCE), made(TESTS)];
  if (!source || !tests) return [SOURCE, TESTS];
  const problem = [source, tests].find(({ failed }) => failed);
  if (problem) return `Not reviewed: ${problem.result}`;
  const names = [...source.result.matchAll(/export function (\w+)/g)].map(([, name]) => name!);
  const untested = names.filter((name) => !tests.result.includes(`${name}([`));
  const count = tests.result.split('test("').length - 1;
  const verdict = untested.length > 0 ? `no test calls ${untested.join(", ")}` : "a test calls each of them";
  return `${counted(names.length, "function")} in src/total.js, ${counted(count, "test")}; ${verdict}.`;
}
