import { CappedOutput } from "../../files/shell/index.ts";

/** The most characters of a tool's result, and of its arguments, that an event carries. */
export const MOST_IN_EVENT = 20_000;
/** The most characters of one text in arguments that are too long together. */
const MOST_IN_ARGUMENT = 2000;

/** A text whose middle is replaced by a remark if it is too long. */
export function boundedText(text: string, most = MOST_IN_EVENT): string {
  const capped = new CappedOutput(most);
  capped.push(text);
  return capped.toString();
}

/** Arguments with their long texts cut; as text if that is not enough, or if they are not JSON. */
export function boundedArgs(json: string): unknown {
  try {
    if (json.length <= MOST_IN_EVENT) return JSON.parse(json);
    const args: unknown = JSON.parse(json, (_key, value: unknown) =>
      typeof value === "string" ? boundedText(value, MOST_IN_ARGUMENT) : value,
    );
    const text = JSON.stringify(args);
    return text.length <= MOST_IN_EVENT ? args : boundedText(text);
  } catch {
    return boundedText(json);
  }
}
