import { isDeepStrictEqual } from "node:util";
import type { ToolMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { withNote } from "../noted-result.ts";
import { shortened } from "../shortened.ts";
import { CONSENT_TEXTS } from "./consent.prompt.ts";

type Arguments = Record<string, unknown>;

/** Tells the model, with the result of a call, that it was not made as the model wrote it: its message stays as it is. */
export function withEditNote(
  result: ToolMessage | Command,
  { id, before, after }: { id: string; before: Arguments; after: Arguments },
): ToolMessage | Command {
  return withNote(
    result,
    CONSENT_TEXTS.edited.replace("{changes}", () => changesOf(before, after)),
    id,
  );
}

/** How much is shown of an argument. */
const MOST = 200;

function changesOf(before: Arguments, after: Arguments): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) =>
      name in after ? `${name} is ${shortened(JSON.stringify(after[name]), MOST)}` : `${name} was left out`,
    )
    .join("; ");
}
