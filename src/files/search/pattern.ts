import { RE2JS } from "re2js";
import { type FileResult, type GrepQuery, fail } from "../backend/index.ts";

const MAX_PROGRAM = 1000;
const MAX_LENGTH = 2000;
/** The number of characters of a line that an expression is applied to. */
const MAX_LINE_SEARCHED = 20_000;

export interface Matcher {
  line: (line: string) => boolean;
  /** A cheap first check: false if no line of the text can match. */
  text: (text: string) => boolean;
}

/**
 * Compiles the pattern of a query. Expressions run on RE2, which takes linear time for any expression and has ripgrep's
 * syntax. JavaScript's own engine can hang on `(a+)+$`.
 */
export function compilePattern({ pattern, regex, ignoreCase }: GrepQuery): FileResult<{ matcher: Matcher }> {
  if (pattern === "") return fail("The search pattern is empty; say what to find.");
  if (pattern.length > MAX_LENGTH) {
    return fail(`The search pattern has ${pattern.length} characters; the most is ${MAX_LENGTH}.`);
  }
  if (!regex && /[\n\r]/.test(pattern)) {
    return fail("The search pattern has a line break; searches go line by line, so look for one line of it.");
  }
  if (!regex && !ignoreCase) {
    const includes = (text: string): boolean => text.includes(pattern);
    return { ok: true, matcher: { line: includes, text: includes } };
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(regex ? pattern : RE2JS.quote(pattern), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "";
    return fail(
      `The search pattern is not a valid expression (${reason.replaceAll('"', "'")}). The syntax is RE2, without lookaround and backreferences; for plain text, turn regex off.`,
    );
  }
  if (compiled.programSize() > MAX_PROGRAM) {
    return fail("The search pattern is too complex; use smaller repetition counts or several searches.");
  }
  const line = (text: string): boolean => compiled.test(text.slice(0, MAX_LINE_SEARCHED));
  return { ok: true, matcher: { line, text: () => true } };
}
