import { CONTINUE } from "../../../threads/thread/index.ts";
import { harmlessLines, shown, type Harmless, type Paint } from "../output/index.ts";

const MAX_ECHOED = 12;

/** Renders a typed message, above the answer. */
export function echoOf(text: string, paint: Paint): Harmless[] {
  const lines = harmlessLines(text);
  const more = lines.length - MAX_ECHOED;
  const rows = lines.slice(0, MAX_ECHOED).map((line, at) => shown`${at === 0 ? shown`>` : shown` `} ${line}`);
  const rest = more > 0 ? [paint("dim", shown`  … ${more} more lines`)] : [];
  return [shown``, ...rows.map((row) => paint("bold", row)), ...rest];
}

/** The typed text of a message. For `/continue`, the harness wrote another text into the thread. */
export function typedFor(text: string): string {
  return text === CONTINUE ? "/continue" : text;
}
