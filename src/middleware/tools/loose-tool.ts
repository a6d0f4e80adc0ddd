import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { tool, type DynamicStructuredTool } from "@langchain/core/tools";
import { Validator } from "@langchain/core/utils/json_schema";
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import { z } from "zod";
import type { CallConfig } from "../../langgraph/index.ts";
import { mark, markOf } from "../../marks.ts";
import type { ToolText } from "../../plan/presets/index.ts";
import { isRecord } from "../../plan/read/index.ts";
import { problemsOf, repairArguments } from "./argument-repair.ts";
import { setArguments } from "./call-arguments.ts";
import { withNote } from "./message-copies.ts";
import { errorResult, type CallResult } from "./result-marks.ts";
import { originalTool } from "./wrapped-tool.ts";

/** The fields of LangChain's tool runtime that are used here. */
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
 * A tool that shows a schema to the model and passes all arguments to `run` unchecked: LangChain's own check would
 * answer a mistake with a stack trace.
 */
export function looseTool(
  { name, description, schema }: ToolText,
  run: (args: unknown, runtime: ToolRuntime) => Promise<string | CallResult>,
): DynamicStructuredTool {
  const anything: z.ZodType<Record<string, unknown>> = z.any().meta({ $schema: undefined, ...schema });
  return tool(run as never, { name, description, schema: anything });
}

/** Metadata of an argument that is accepted but not in the schema shown to the model: results name it if useful. */
export const UNLISTED = { unlisted: true } as const;

/** A tool that checks its arguments itself and answers a mistake with a text the model can act on. */
export function checkedTool<Schema extends z.ZodObject>(
  { name, description, schema }: { name: string; description: string; schema: Schema },
  run: (args: z.output<Schema>, runtime: ToolRuntime) => Promise<string | CallResult>,
): DynamicStructuredTool {
  const {
    $schema: _,
    additionalProperties: __,
    ...shown
  } = z.toJSONSchema(schema, {
    io: "input",
    // Bounds cost tokens in every request and are checked here anyway.
    override: ({ jsonSchema }) => {
      const { properties = {} } = jsonSchema;
      for (const [field, property] of Object.entries(properties)) {
        if ((property as { unlisted?: boolean }).unlisted) delete properties[field];
      }
      delete jsonSchema.minLength;
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      delete jsonSchema.exclusiveMinimum;
    },
  });
  const checked = looseTool({ name, description, schema: shown }, async (args, runtime) => {
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
  schemas.set(checked, schema);
  return checked;
}

/** The schemas of checked tools; to LangChain they accept anything. */
const schemas = new WeakMap<object, z.ZodObject>();

/** The reason why a tool would refuse arguments; undefined if it accepts them. Does not call the tool. */
export async function argumentsProblem(calledTool: unknown, args: unknown): Promise<string | undefined> {
  const called = originalTool(calledTool);
  if (typeof called !== "object" || called === null) return undefined;
  const schema: unknown = schemas.get(called) ?? ("schema" in called ? called.schema : undefined);
  if (isInteropZodSchema(schema)) {
    const parsed = await interopSafeParseAsync(schema, schemas.has(called) ? withoutNulls(args) : args);
    return parsed.success ? undefined : problemsOf(parsed.error, args);
  }
  if (typeof schema !== "object" || schema === null) return undefined;
  const { valid, errors } = new Validator(schema).validate(args);
  return valid ? undefined : errors.map(({ error }) => error).join(" ");
}

type Trial = (args: unknown, runtime: ToolRuntime) => Promise<CallResult | undefined>;

/** Functions that find out whether a tool's call would fail, without making it. */
const trials = new WeakMap<object, Trial>();

export function withTrial(called: object, trial: Trial): void {
  trials.set(called, trial);
}

/** The result of a call that is certain to fail; undefined for one that may succeed. Changes nothing. */
export async function foreseenFailure(
  calledTool: unknown,
  { name, id = "", args }: { name: string; id?: string; args: Record<string, unknown> },
  runtime: ToolRuntime,
): Promise<CallResult | undefined> {
  const problem = await argumentsProblem(calledTool, args);
  if (problem !== undefined) return failure(name, id, `${problem}. Nothing was done.`);
  const called = originalTool(calledTool);
  const trial = typeof called === "object" && called !== null ? trials.get(called) : undefined;
  return trial?.(withoutNulls(args), runtime);
}

/** Parses arguments by a schema, and repairs them if it refuses them. */
function parse(schema: z.ZodObject, sentArgs: unknown, options: { mayRename: boolean }) {
  const args = withoutNulls(sentArgs);
  const parsed = schema.safeParse(args);
  if (parsed.success || !isRecord(args)) return { parsed, args, notes: [] };
  const repaired = repairArguments(schema, args, options);
  const again = schema.safeParse(repaired.args);
  return again.success ? { parsed: again, ...repaired } : { parsed, args, notes: [] };
}

/**
 * Repairs the arguments of a model's calls to checked tools in place, before rules and users see them. The result of
 * the call says what was repaired.
 */
export function repairCheckedCalls(answer: unknown, tools: readonly unknown[]): void {
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
  mark(answer, { repaired_arguments: notes });
}

/** The schema of a checked tool, or of a variant that inherits from one. */
function schemaOf(listedTool: unknown): z.ZodObject | undefined {
  if (typeof listedTool !== "object" || listedTool === null) return undefined;
  return schemas.get(originalTool(listedTool)) ?? schemas.get(Object.getPrototypeOf(listedTool) as object);
}

function repairNote({ state, ...runtime }: ToolRuntime): string | undefined {
  const { messages = [] } = (state ?? {}) as { messages?: readonly BaseMessage[] };
  const id = callId(runtime);
  const turn = messages.findLast((message) => AIMessage.isInstance(message));
  const notes = markOf(turn, "repaired_arguments");
  return notes && Object.hasOwn(notes, id) ? notes[id] : undefined;
}

/** Removes null fields, also in the objects of a list: models send null for what they leave out. */
function withoutNulls(args: unknown): unknown {
  if (Array.isArray(args)) return args.map(withoutNulls);
  if (!isRecord(args)) return args;
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutNulls(value)]));
}

/** The id of the call that a tool is answering. */
export function callId(runtime: ToolRuntime): string {
  return runtime.toolCall?.id ?? runtime.toolCallId ?? "";
}

/** An error result with a reason for the model. */
export function failure(name: string, id: string, reason: string): ToolMessage {
  return errorResult({ name, id }, `Error: ${reason}`);
}
