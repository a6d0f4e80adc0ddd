import { ToolMessage, AIMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command, ReducedValue, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { mergeFiles } from "../../files/backends/index.ts";
import { preview } from "../../files/text/index.ts";
import { unparsedState } from "../../langgraph/index.ts";
import { foreign } from "../../plan/render/index.ts";
import { conversationFileFor, readsConversation, withShortMessages } from "../conversation-file/index.ts";
import { checkOptions } from "../options/index.ts";
import { anyUpdate, harnessField } from "../state/index.ts";
import { reminderMessage, withSection } from "../text/index.ts";
import { answered } from "../tool-errors/index.ts";
import {
  type CallResult,
  setArguments,
  callId,
  checkedTool,
  repairCheckedCalls,
  withTrial,
  type ToolRuntime,
  MUTATIONS,
  refusedCalls,
  withoutRefusedTexts,
  isCutNote,
  isHeld,
  isMutation,
  turnOf,
} from "../tools/index.ts";
import { plainPath } from "./changes/change-file.ts";
import type { SeenFile } from "./changes/sightings.ts";
import { noteStart, SINCE, sinceUpdate } from "./changes/since.ts";
import { FILES_OPTIONS } from "./check-options.ts";
import { withOutputTold } from "./command-output.ts";
import { FILE_TOOLS, FILES_HEADING, FILES_SYSTEM_PROMPT } from "./files.prompt.ts";
import { Sight } from "./media.ts";
import { operate, type FileAnswer } from "./operate.ts";
import type { FilesOptions, WorkspaceOptions, FileToolChoice } from "./options.ts";
import { FILE_ARGUMENTS, type FileToolName } from "./schemas.ts";
import { shortenResult } from "./shorten.ts";
import { Workspace } from "./workspace.ts";

export { joined, seenIn } from "./changes/sightings.ts";
export { applyEdits, textEdits } from "./changes/text-edits.ts";
export { COMMAND_OUTPUT, type PrintedSoFar } from "./command-output.ts";
export { FILES_METHODS, FILES_OPTIONS } from "./check-options.ts";
export { imageBlock, look, type Shown, Sight } from "./media.ts";
export type { BackendContext, BackendOption, FilesOptions, FileToolChoice } from "./options.ts";
export { FILE_ARGUMENTS } from "./schemas.ts";
export { filesBefore, runsCommands, stateBackend, Workspace, type WorkspaceParts } from "./workspace.ts";

/**
 * Gives an agent file tools, `files` in the graph state, and a folder for long tool results.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { filesMiddleware } from "holdfast";
 * import { diskBackend } from "holdfast/files";
 *
 * const files = filesMiddleware({ backend: diskBackend("./notes"), fileTools: ["read_file", "grep"] });
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [files] });
 * ```
 */
export function filesMiddleware(options: FilesOptions = {}) {
  checkOptions(options, { name: "filesMiddleware", schema: FILES_OPTIONS });
  return filesMiddlewareOf(new Workspace(options), options);
}

/** The same for a workspace that other parts of a harness share. */
export function filesMiddlewareOf(
  workspace: Workspace,
  options: Omit<FilesOptions, keyof WorkspaceOptions> & { model?: object } = {},
) {
  const { systemPrompt, resultLimit = 40_000, resultFolder = "/tool_results" } = options;
  const sight = new Sight(options);
  return createMiddleware({
    name: "FilesMiddleware",
    stateSchema: filesStateSchema(),
    tools: fileTools(workspace, { limit: resultLimit, sight, choices: options.fileTools }),
    wrapModelCall: async (request, handler) => {
      noteStart(request.state);
      const opened = await sight.opened(request);
      const messages = [
        ...withShortMessages(withoutRefusedTexts(opened.messages), {
          conversation: request.state.messages,
          file: conversationFileFor(request.tools),
        }),
        ...refusedCalls(request.state.messages, MUTATIONS),
        ...conflictNotice(request.state.files),
      ];
      const answer = await handler({
        ...request,
        messages,
        systemMessage: withSection(request.systemMessage, systemPrompt ?? sectionOf(workspace, request)),
      });
      repairCheckedCalls(answer, request.tools);
      fillConfirmed(answer, request.state.messages);
      return answer;
    },
    ...(resultLimit !== false && {
      wrapToolCall: async (
        request: { toolCall: { id?: string; name: string }; state: object; runtime: unknown },
        handler: (request: never) => Promise<CallResult> | CallResult,
      ) => {
        const result = await answered(request, handler as never);
        const { name } = request.toolCall;
        if (name in FILE_TOOLS && name !== "execute") return result;
        const limit = name === "execute" ? Math.min(resultLimit, OUTPUT_LIMIT) : resultLimit;
        return shortenResult(result, { workspace, limit, folder: resultFolder, request });
      },
    }),
  });
}

/** The most characters of a command's output that are shown in full. */
const OUTPUT_LIMIT = 30_000;

/** The prompt's section on files, with the backend's description of the place if it has one. */
function sectionOf(workspace: Workspace, { runtime }: { runtime: object }): string {
  const place = workspace.place(runtime);
  return place === undefined ? FILES_SYSTEM_PROMPT : `${FILES_HEADING}${place}`;
}

/** A reminder of copies that conflicting parallel changes have left, as long as there are any. */
function conflictNotice(files: Record<string, string> | undefined): BaseMessage[] {
  const copies = Object.keys(files ?? {}).filter((path) => /\.conflict-\d+$/.test(path));
  if (copies.length === 0) return [];
  const text = `Parallel changes to a file conflict. The file has the later one; the text that it replaced is in ${foreign(copies.join(", "))}: put right what is wrong, then delete the copy.`;
  return [reminderMessage("file_conflict", text)];
}

/** The names of the file tools that a workspace offers. */
export function fileToolNames(workspace: Workspace, choices?: readonly FileToolChoice[]): FileToolName[] {
  const names = choices?.map(nameOf) ?? (Object.keys(FILE_ARGUMENTS) as FileToolName[]);
  return names.filter((name) => name !== "execute" || workspace.canExecute);
}

/** The field of the state with the files. */
export function filesField() {
  return new ReducedValue(z.record(z.string(), z.string()).default({}), {
    inputSchema: anyUpdate<Record<string, string>>(),
    reducer: (current, next) => (next === undefined ? current : mergeFiles(current, next)),
  });
}

function filesStateSchema() {
  const fields = {
    files: filesField(),
    [SINCE]: harnessField(
      new ReducedValue(z.number().optional(), {
        inputSchema: anyUpdate<number | undefined>(),
        reducer: (current, next) => current ?? next,
      }),
    ),
  };
  return unparsedState(new StateSchema(fields));
}

/** The artifact of a result, which is not sent to the model. */
function artifactOf(
  { failure, shown, isHeld: held }: FileAnswer,
  seen: SeenFile | undefined,
): { artifact?: object } {
  const artifact = {
    ...failure,
    ...(shown && { shown }),
    ...(held && { held }),
    ...(seen && { seen }),
  };
  return Object.keys(artifact).length > 0 ? { artifact } : {};
}

function nameOf(choice: FileToolChoice): FileToolName {
  return typeof choice === "string" ? choice : choice.name;
}

function descriptionOf(name: FileToolName, choices: readonly FileToolChoice[] = []): string {
  const choice = choices.find((one) => nameOf(one) === name);
  return (typeof choice === "object" ? choice.description : undefined) ?? FILE_TOOLS[name];
}

function fileTools(
  workspace: Workspace,
  {
    limit,
    sight,
    choices,
  }: { limit: number | false; sight: Sight; choices: readonly FileToolChoice[] | undefined },
): DynamicStructuredTool[] {
  return fileToolNames(workspace, choices).map((name) => {
    const call = async (
      args: unknown,
      runtime: ToolRuntime,
      isTrial = false,
    ): Promise<{ ok: boolean; result: CallResult }> => {
      const id = callId(runtime);
      const { backend, changes, sightings } = await workspace.openFor(id, runtime, { isTrial });
      const media = name === "read_file" ? await sight.media() : [];
      const options = { signal: runtime.signal, media, sightings, ...(limit !== false && { limit }) };
      const work = () => operate(backend, { name, args: args as never }, options);
      const answer = await (name === "execute" && !isTrial ? withOutputTold(id, work) : work());
      const status = answer.ok ? "success" : "error";
      // Without a limit for results, output is not saved to a file, but still too long to show in full.
      const isCut = limit === false && name === "execute";
      const text = isCut ? preview(answer.text, { limit: OUTPUT_LIMIT, path: undefined }) : answer.text;
      const content = answer.ok ? text : `Error: ${text}`;
      const artifact = artifactOf(answer, sightings?.latest);
      const message = new ToolMessage({ content, status, name, tool_call_id: id, ...artifact });
      const files = changes();
      const update = { ...(Object.keys(files).length > 0 && { files }), ...sinceUpdate(runtime) };
      const isUpdated = Object.keys(update).length > 0;
      const result = isUpdated ? new Command({ update: { ...update, messages: [message] } }) : message;
      return { ok: answer.ok, result };
    };
    const schema = FILE_ARGUMENTS[name] as z.ZodObject;
    const fileTool = checkedTool(
      { name, description: descriptionOf(name, choices), schema },
      async (args, runtime) => (await call(args, runtime)).result,
    );
    withTrial(fileTool, async (args, runtime) => {
      const { ok, result } = await call(schema.parse(args), runtime, true);
      return ok ? undefined : result;
    });
    return name === "read_file" ? readsConversation(fileTool, workspace.historyFolder) : fileTool;
  });
}

const WRITE = "write_file";

function isHeldWrite(message: BaseMessage): message is ToolMessage {
  return ToolMessage.isInstance(message) && message.name === WRITE && isHeld(message);
}

/**
 * Fills in the held-back text in calls that confirm a write, so that tools, users and views get a complete call. In
 * place: LangChain keeps the model's own message object.
 */
function fillConfirmed(answer: unknown, messages: readonly BaseMessage[]): void {
  if (!AIMessage.isInstance(answer)) return;
  const isOpen = ({ name, args }: ToolCall): boolean =>
    name === WRITE && isConfirming(args) && (args["content"] === undefined || isCutNote(args["content"]));
  if (!answer.tool_calls?.some(isOpen)) return;
  setArguments(answer, (call) => {
    const content = isOpen(call) ? heldText(messages, call.args["file_path"]) : undefined;
    return content === undefined ? undefined : { ...call.args, content };
  });
}

function isConfirming({ confirm }: Record<string, unknown>): boolean {
  return confirm === true || confirm === "true";
}

/** The text of the last change of a file, if that was a write that was held back. */
function heldText(messages: readonly BaseMessage[], path: unknown): string | undefined {
  if (typeof path !== "string") return undefined;
  const last = messages.findLast((message): message is ToolMessage => {
    if (!ToolMessage.isInstance(message) || !isMutation(message.name ?? "")) return false;
    if (message.status === "error" && !isHeldWrite(message)) return false;
    const changedPath = callOf(message, messages)?.args["file_path"];
    return typeof changedPath === "string" && plainPath(changedPath) === plainPath(path);
  });
  const content = last && isHeldWrite(last) ? callOf(last, messages)?.args["content"] : undefined;
  return typeof content === "string" ? content : undefined;
}

function callOf({ tool_call_id }: ToolMessage, messages: readonly BaseMessage[]): ToolCall | undefined {
  return turnOf(messages, tool_call_id)?.tool_calls?.find(({ id }) => id === tool_call_id);
}
