import { ToolMessage } from "@langchain/core/messages";
import { tool, type DynamicStructuredTool } from "@langchain/core/tools";
import { Validator } from "@langchain/core/utils/json_schema";
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import type { Command } from "@langchain/langgraph";
import { z } from "zod";
import { originalTool } from "./wrapped-tool.ts";

/** What LangChain hands to a tool besides its arguments, as far as it is used here. */
export interface ToolRuntime {
  state?: unknown;
  toolCall?: { id?: string; name: string; args: Record<string, unknown> };
  toolCallId?: string;
  writer?: (chunk: unknown) => void;
  signal?: AbortSignal;
  store?: unknown;
  configurable?: Record<string, unknown>;
  config?: { metadata?: object; control?: unknown };
}

/** A tool as the model sees it. `schema` is JSON Schema. */
export interface LooseToolText {
  name: string;
  description: string;
  schema: object;
}

/**
 * A tool that shows the model a schema and lets every argument through to `run`: LangChain's own check would
 * answer a mistake with a stack trace.
 */
export function looseTool(
  { name, description, schema }: LooseToolText,
  run: (args: unknown, runtime: ToolRuntime) => Promise<string | ToolMessage | Command>,
): DynamicStructuredTool {
  const anything: z.ZodType<Record<string, unknown>> = z.any().meta({ $schema: undefined, ...schema });
  return tool(run as never, { name, description, schema: anything });
}

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
      delete jsonSchema.minLength;
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      delete jsonSchema.exclusiveMinimum;
    },
  });
  const made = looseTool({ name, description, schema: shown }, async (args, runtime) => {
    const parsed = schema.safeParse(withoutNulls(args));
    if (parsed.success) return run(parsed.data, runtime);
    return failure(name, callId(runtime), `${problemsOf(parsed.error)}. Nothing was done.`);
  });
  checks.set(made, schema);
  return made;
}

/** What the tools above are held to; LangChain sees that they take anything. */
const checks = new WeakMap<object, z.ZodObject>();

/** What a tool would find wrong with arguments, before it is called. */
export async function argumentsProblem(given: unknown, args: unknown): Promise<string | undefined> {
  const called = originalTool(given);
  if (typeof called !== "object" || called === null) return undefined;
  const schema: unknown = checks.get(called) ?? ("schema" in called ? called.schema : undefined);
  if (isInteropZodSchema(schema)) {
    const parsed = await interopSafeParseAsync(schema, checks.has(called) ? withoutNulls(args) : args);
    return parsed.success ? undefined : problemsOf(parsed.error);
  }
  if (typeof schema !== "object" || schema === null) return undefined;
  const { valid, errors } = new Validator(schema).validate(args);
  return valid ? undefined : errors.map(({ error }) => error).join(" ");
}

function problemsOf({ issues }: { issues: { path: PropertyKey[]; message: string }[] }): string {
  return issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`).join("; ");
}

/** Models send null for what they leave out. */
function withoutNulls(args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** The id of the call that a tool is answering. */
export function callId(runtime: ToolRuntime): string {
  return runtime.toolCall?.id ?? runtime.toolCallId ?? "";
}

/** An error that goes back to the model. */
export function failure(name: string, id: string, reason: string): ToolMessage {
  return new ToolMessage({ content: `Error: ${reason}`, status: "error", name, tool_call_id: id });
}
