import { CONTINUE } from "../../../threads/thread/index.ts";
import { harmlessLines, shown, type Harmless, type Paint } from "../output/index.ts";

const MOST_ECHOED = 12;

/** The typed message, as it stands above the answer. */
export function echoOf(text: string, paint: Paint): Harmless[] {
  const lines = harmlessLines(text);
  const more = lines.length - MOST_ECHOED;
  const rows = lines
    .slice(0, MOST_ECHOED)
    .map((line, at) => shown`${at === 0 ? shown`>` : shown` `} ${line}`);
  const rest = more > 0 ? [paint("dim", shown`  … ${more} more lines`)] : [];
  return [shown``, ...rows.map((row) => paint("bold", row)), ...rest];
}

/** The text that a person typed for a message of a thread: the harness writes those that continue a plan. */
export function typedFor(text: string): string {
  return text === CONTINUE ? "/continue" : text;
}
