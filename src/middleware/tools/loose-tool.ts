import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { tool, type DynamicStructuredTool } from "@langchain/core/tools";
import { Validator } from "@langchain/core/utils/json_schema";
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import type { Command } from "@langchain/langgraph";
import { z } from "zod";
import type { CallConfig } from "../../langgraph/index.ts";
import type { ToolText } from "../../plan/presets/index.ts";
import { isRecord } from "../../plan/read/index.ts";
import { problemsOf, repairArguments } from "./argument-repair.ts";
import { setArguments } from "./call-arguments.ts";
import { withNote } from "./message-copies.ts";
import { originalTool } from "./wrapped-tool.ts";

/** The fields that are used of LangChain's tool runtime. */
export interface ToolRuntime {
  state?: unknown;
  toolCall?: { id?: string; name: string; args: Record<string, unknown> };
  toolCallId?: string;
  writer?: (chunk: unknown) => void;
  signal?: AbortSignal;
  store?: unknown;
  configurable?: Record<string, unknown>;
  config?: CallConfig & { control?: unknown };
}

/**
 * A tool that shows the model a schema and lets every argument through to `run`: LangChain's own check would
 * answer a mistake with a stack trace.
 */
export function looseTool(
  { name, description, schema }: ToolText,
  run: (args: unknown, runtime: ToolRuntime) => Promise<string | ToolMessage | Command>,
): DynamicStructuredTool {
  const anything: z.ZodType<Record<string, unknown>> = z.any().meta({ $schema: undefined, ...schema });
  return tool(run as never, { name, description, schema: anything });
}

/** Metadata of an argument that is taken but not shown: results name it where it is of use. */
export const UNLISTED = { unlisted: true } as const;

/** A tool whose arguments are checked here, so that a mistake is answered in words the model can act on. */
export function checkedTool<Schema extends z.ZodObject>(
  { name, description, schema }: { name: string; description: string; schema: Schema },
  run: (args: z.output<Schema>, runtime: ToolRuntime) => Promise<string | ToolMessage | Command>,
): DynamicStructuredTool {
  const {
    $schema: _,
    additionalProperties: __,
    ...shown
  } = z.toJSONSchema(schema, {
    io: "input",
    // Bounds cost tokens in every request and are checked here anyway.
    override: ({ jsonSchema }) => {
      for (const [field, { unlisted = false }] of Object.entries(jsonSchema.properties ?? {}) as [
        string,
        { unlisted?: boolean },
      ][]) {
        if (unlisted) delete jsonSchema.properties![field];
      }
      delete jsonSchema.minLength;
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      delete jsonSchema.exclusiveMinimum;
    },
  });
  const made = looseTool({ name, description, schema: shown }, async (args, runtime) => {
    const { parsed, notes } = parse(schema, args, { mayRename: false });
    const id = callId(runtime);
    if (!parsed.success) return failure(name, id, `${problemsOf(parsed.error, args)}. Nothing was done.`);
    const note = [repairNote(runtime), ...notes].filter(Boolean).join(" ");
    const result = await run(parsed.data as z.output<Schema>, runtime);
    if (note === "") return result;
    const message =
      typeof result === "string" ? new ToolMessage({ content: result, name, tool_call_id: id }) : result;
    return withNote(message, `[${note}]`, id);
  });
  checks.set(made, schema);
  return made;
}

/** The schemas of the tools above; LangChain sees tools that take anything. */
const checks = new WeakMap<object, z.ZodObject>();

/** A tool's objection to arguments, before it is called. */
export async function argumentsProblem(given: unknown, args: unknown): Promise<string | undefined> {
  const called = originalTool(given);
  if (typeof called !== "object" || called === null) return undefined;
  const schema: unknown = checks.get(called) ?? ("schema" in called ? called.schema : undefined);
  if (isInteropZodSchema(schema)) {
    const parsed = await interopSafeParseAsync(schema, checks.has(called) ? withoutNulls(args) : args);
    return parsed.success ? undefined : problemsOf(parsed.error, args);
  }
  if (typeof schema !== "object" || schema === null) return undefined;
  const { valid, errors } = new Validator(schema).validate(args);
  return valid ? undefined : errors.map(({ error }) => error).join(" ");
}

type Trial = (args: unknown, runtime: ToolRuntime) => Promise<ToolMessage | Command | undefined>;

/** Trials of tools, which find out that a call would fail without making it. */
const trials = new WeakMap<object, Trial>();

export function withTrial(called: object, trial: Trial): void {
  trials.set(called, trial);
}

/** The result of a call that can only fail; undefined for one that may succeed. Changes nothing. */
export async function foreseenFailure(
  given: unknown,
  { name, id = "", args }: { name: string; id?: string | undefined; args: Record<string, unknown> },
  runtime: ToolRuntime,
): Promise<ToolMessage | Command | undefined> {
  const problem = await argumentsProblem(given, args);
  if (problem !== undefined) return failure(name, id, `${problem}. Nothing was done.`);
  const called = originalTool(given);
  const trial = typeof called === "object" && called !== null ? trials.get(called) : undefined;
  return trial?.(withoutNulls(args), runtime);
}

/** Reads arguments by a schema, repaired where it refuses them as they are. */
function parse(schema: z.ZodObject, given: unknown, options: { mayRename: boolean }) {
  const args = withoutNulls(given);
  const parsed = schema.safeParse(args);
  if (parsed.success || !isRecord(args)) return { parsed, args, notes: [] };
  const repaired = repairArguments(schema, args, options);
  const again = schema.safeParse(repaired.args);
  return again.success ? { parsed: again, ...repaired } : { parsed, args, notes: [] };
}

/** Where a message keeps what was repaired in its calls, by id. */
const REPAIRED = "repaired_arguments";

/**
 * Repairs the arguments of a model's calls to tools of ours, in place and before anybody else reads them: rules and
 * people see the call that is made. The result of the call says what was repaired.
 */
export function repairCalls(answer: unknown, tools: readonly unknown[]): void {
  if (!AIMessage.isInstance(answer) || !answer.tool_calls?.length) return;
  const notes: Record<string, string> = {};
  const repaired = new Map<object, Record<string, unknown>>();
  for (const call of answer.tool_calls) {
    const schema = schemaOf(tools.find((one) => (one as { name?: unknown }).name === call.name));
    const reading = schema && parse(schema, call.args, { mayRename: true });
    if (!reading || reading.notes.length === 0) continue;
    repaired.set(call, reading.args as Record<string, unknown>);
    notes[call.id ?? ""] = reading.notes.join(" ");
  }
  if (repaired.size === 0) return;
  setArguments(answer, (call) => repaired.get(call));
  answer.additional_kwargs[REPAIRED] = notes;
}

/** The schema of a tool, also of one that is shown to the model in another form. */
function schemaOf(shown: unknown): z.ZodObject | undefined {
  if (typeof shown !== "object" || shown === null) return undefined;
  return checks.get(originalTool(shown)) ?? checks.get(Object.getPrototypeOf(shown) as object);
}

function repairNote({ state, ...runtime }: ToolRuntime): string | undefined {
  const { messages = [] } = (state ?? {}) as { messages?: readonly BaseMessage[] };
  const id = callId(runtime);
  const turn = messages.findLast((message) => AIMessage.isInstance(message));
  const notes = turn?.additional_kwargs[REPAIRED] as Record<string, string> | undefined;
  return notes && Object.hasOwn(notes, id) ? notes[id] : undefined;
}

/** Models send null for what they leave out, also in the objects of a list. */
function withoutNulls(args: unknown): unknown {
  if (Array.isArray(args)) return args.map(withoutNulls);
  if (!isRecord(args)) return args;
  const given = Object.entries(args).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, withoutNulls(value)]));
}

/** The id of the call that a tool is answering. */
export function callId(runtime: ToolRuntime): string {
  return runtime.toolCall?.id ?? runtime.toolCallId ?? "";
}

/** An error that goes back to the model. */
export function failure(name: string, id: string, reason: string): ToolMessage {
  return new ToolMessage({ content: `Error: ${reason}`, status: "error", name, tool_call_id: id });
}
