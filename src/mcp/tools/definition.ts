import type { Tool } from "@modelcontextprotocol/client";
import { diffLines } from "diff";
import { stringify } from "yaml";
import { defused } from "../../middleware/text/index.ts";

const MAX_DESCRIPTION_CHARS = 1024;
/** The model gets no longer schema; the server checks arguments anyway. */
const MAX_SCHEMA_CHARS = 16_000;
const MAX_DIFFERENCE_CHARS = 8000;

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
/** Keys of a schema that every provider accepts. */
const SCHEMA_KEYS = ["properties", "required", "additionalProperties", "$defs", "definitions"];
const PROPERTY_NAME = /^[\w.-]{1,64}$/;

/** A tool as a model and the rules for consent see it. */
export interface ToolDefinition {
  description: string;
  /** The server's statements about the tool's effects, by MCP's names, such as `readOnlyHint`. */
  hints: Record<string, boolean>;
  schema: Record<string, unknown>;
}

/** A store of the definitions that the user has agreed to. A tool that differs from its definition waits for consent. */
export interface ToolPins {
  /** The definitions of a server's tools by name. Undefined for a server that was never used. */
  of(server: string): Promise<Record<string, ToolDefinition> | undefined>;
  /** Adds definitions, or replaces earlier ones. */
  pin(server: string, tools: Record<string, ToolDefinition>): Promise<void>;
}

export function definitionOf({ name, description, title, annotations, inputSchema }: Tool): ToolDefinition {
  const hints = HINTS.flatMap((hint) => {
    const value = annotations?.[hint];
    return typeof value === "boolean" ? [[hint, value] as const] : [];
  });
  return {
    description: defused((description ?? title ?? name).trim().slice(0, MAX_DESCRIPTION_CHARS)),
    hints: Object.fromEntries(hints),
    schema: safeSchema(inputSchema),
  };
}

/** A notice for the user who is asked: the changed lines of a definition. */
export function changeNotice(before: ToolDefinition | undefined, after: ToolDefinition): string {
  const head = before
    ? "The server has changed this tool since you agreed to it:"
    : "The server did not have this tool when you agreed to its tools:";
  const lines = diffLines(before ? textOf(before) : "", textOf(after)).flatMap(({ value, added, removed }) =>
    added || removed ? value.replace(/\n$/, "").replaceAll(/^/gm, added ? "+ " : "- ") : [],
  );
  const text = lines.join("\n");
  const rest = text.length > MAX_DIFFERENCE_CHARS ? "\n… and more" : "";
  return `${head}\n${text.slice(0, MAX_DIFFERENCE_CHARS)}${rest}`;
}

function textOf(definition: ToolDefinition): string {
  return stringify(definition, { sortMapEntries: true, lineWidth: 0 });
}

/** A schema that every provider accepts: one that it does not accept would fail the whole request. */
function safeSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const plain = { type: "object", properties: {} };
  const entries = Object.entries(schema).filter(
    ([key, value]) => SCHEMA_KEYS.includes(key) && value !== null,
  );
  const text = defused(JSON.stringify({ ...plain, ...Object.fromEntries(entries) }));
  const hasValidNames = Object.keys(schema["properties"] ?? {}).every((name) => PROPERTY_NAME.test(name));
  return hasValidNames && text.length <= MAX_SCHEMA_CHARS
    ? (JSON.parse(text) as Record<string, unknown>)
    : plain;
}
