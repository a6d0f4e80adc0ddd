import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { callTool, ScriptedModel } from "../../src/testing/index.ts";
import { LOOK, PARTS, projectFiles, TEST, type Part } from "./project.ts";

/** How a model that knows a system plays the task on it. */
export interface Manner {
  /** Calls of one message take effect in their order, so a test run may stand behind the edits. */
  isOrdered: boolean;
  /** Several replacements in one call. */
  hasEdits: boolean;
  /** A file that is there can be written; else its text is replaced. */
  overwrites: boolean;
  /** The calls that write the plan, and that report an item as done. */
  plan?: {
    write: (items: readonly string[]) => ToolCall;
    done: (items: readonly string[], count: number) => ToolCall;
  };
}

/** A model that does the work part by part, and what it had to say twice. */
export interface Player {
  model: ScriptedModel;
  /** Output tokens that were sent a second time, as a call was refused. */
  resent: () => number;
}

type Call = (name: string, args: object) => ToolCall;

export function playerOf(manner: Manner): Player {
  let resent = 0;
  let id = 0;
  const call: Call = (name, args) => callTool(name, args as Record<string, unknown>, `c${(id += 1)}`);
  const queue: ToolCall[][] = turnsOf(manner, call);
  const model = new ScriptedModel(
    [
      ({ messages }) => {
        const refused = refusedCalls(messages);
        if (refused.length > 0) {
          const again = refused.map(({ made, isHeld }) => {
            if (isHeld) return call(made.name, { file_path: made.args["file_path"], confirm: true });
            resent += countTokens(JSON.stringify(made.args));
            return call(made.name, made.args);
          });
          const reads = refused.flatMap(({ made, isHeld }) =>
            isHeld ? [] : [call("read_file", { file_path: made.args["file_path"] })],
          );
          const tested = manner.isOrdered ? [call("execute", { command: TEST })] : [];
          queue.unshift([...again, ...tested]);
          if (reads.length > 0) queue.unshift(reads);
        }
        return queue.shift() ?? "Done: all parts of SPEC.md are there, and the tests pass.";
      },
    ],
    { loop: true },
  );
  return { model, resent: () => resent };
}

/** The calls of each turn, in as few turns as the system lets them be. */
function turnsOf(manner: Manner, call: Call): ToolCall[][] {
  const { isOrdered, plan } = manner;
  const items = PARTS.map(({ item }) => item);
  const files = projectFiles();
  const turns: ToolCall[][] = [[call("execute", { command: LOOK })]];
  for (const [at, part] of PARTS.entries()) {
    const planned = plan ? [at === 0 ? plan.write(items) : plan.done(items, at)] : [];
    const named = planned.map(({ name, args }) => call(name, args));
    const test = call("execute", { command: TEST });
    const work = [...named, ...workOf(part, manner, { files, call })];
    turns.push(...(isOrdered ? [[...work, test]] : [work, [test]]));
  }
  return turns;
}

/** The files as the work so far has left them. */
type Files = Record<string, string>;

function workOf(part: Part, manner: Manner, { files, call }: { files: Files; call: Call }): ToolCall[] {
  const { isOrdered, hasEdits, overwrites } = manner;
  const replaced = (path: string, before: string, content: string): ToolCall =>
    overwrites
      ? call("write_file", { file_path: path, content })
      : call("edit_file", { file_path: path, old_string: before, new_string: content });
  const written = part.writes.map(({ path, content }) => {
    const before = files[path];
    files[path] = content;
    return before === undefined
      ? call("write_file", { file_path: path, content })
      : replaced(path, before, content);
  });
  const paths = [...new Set(part.edits.map(({ path }) => path))];
  const edited = paths.flatMap((file_path) => {
    const edits = part.edits.filter(({ path }) => path === file_path);
    const before = files[file_path]!;
    files[file_path] = edits.reduce((text, edit) => text.replace(edit.before, () => edit.after), before);
    const list = edits.map((edit) => ({ old_string: edit.before, new_string: edit.after }));
    if (hasEdits) return [call("edit_file", { file_path, edits: list })];
    // Where calls have no order, several edits of one file lose each other: all of it is written.
    return list.length > 1 && !isOrdered
      ? [replaced(file_path, before, files[file_path])]
      : list.map((args) => call("edit_file", { file_path, ...args }));
  });
  return [...written, ...edited];
}

/** The changes of files in the last turn that were refused. */
function refusedCalls(messages: readonly BaseMessage[]): { made: ToolCall; isHeld: boolean }[] {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const { tool_calls = [] } = (messages[at] ?? {}) as AIMessage;
  return messages.slice(at + 1).flatMap((message) => {
    if (!ToolMessage.isInstance(message) || !/^(?:Error|Cannot)/.test(message.text)) return [];
    const made = tool_calls.find(({ id }) => id === message.tool_call_id);
    if (!made || !["write_file", "edit_file"].includes(made.name)) return [];
    return [{ made, isHeld: message.text.includes("confirm: true") }];
  });
}
