import { isDeepStrictEqual } from "node:util";
import type { Tool } from "@modelcontextprotocol/client";
import { diffLines } from "diff";
import { stringify } from "yaml";
import { defused } from "../../middleware/text/index.ts";

const LONGEST_DESCRIPTION = 1024;
/** A longer schema costs more than it explains; the server checks arguments anyway. */
const LONGEST_SCHEMA = 16_000;
const LONGEST_DIFFERENCE = 8000;

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
/** Keys of a schema that every provider accepts. */
const SCHEMA_KEYS = ["properties", "required", "additionalProperties", "$defs", "definitions"];
const PROPERTY_NAME = /^[\w.-]{1,64}$/;

/** A tool as a model and the rules for consent see it. */
export interface ToolDefinition {
  description: string;
  /** The server's word on what the tool does, by MCP's names, such as `readOnlyHint`. */
  hints: Record<string, boolean>;
  schema: Record<string, unknown>;
}

/** A memory of the definitions that a person has agreed to. A tool that differs from its own waits for consent. */
export interface ToolPins {
  /** The definitions of a server's tools by name. Undefined for a server that was never used. */
  of(server: string): Promise<Record<string, ToolDefinition> | undefined>;
  /** Adds definitions, or puts them in the place of earlier ones. */
  pin(server: string, tools: Record<string, ToolDefinition>): Promise<void>;
}

export function definitionOf({ name, description, title, annotations, inputSchema }: Tool): ToolDefinition {
  const hints = HINTS.flatMap((hint) => {
    const value = annotations?.[hint];
    return typeof value === "boolean" ? [[hint, value] as const] : [];
  });
  return {
    description: defused((description ?? title ?? name).trim().slice(0, LONGEST_DESCRIPTION)),
    hints: Object.fromEntries(hints),
    schema: shownSchema(inputSchema),
  };
}

export function isSameDefinition(one: ToolDefinition | undefined, other: ToolDefinition): boolean {
  return isDeepStrictEqual(one, other);
}

/** A notice for the person who is asked: the lines of a definition that differ from the one that was agreed to. */
export function changeNotice(before: ToolDefinition | undefined, after: ToolDefinition): string {
  const head = before
    ? "The server has changed this tool since you agreed to it:"
    : "The server did not have this tool when you agreed to its tools:";
  const lines = diffLines(before ? textOf(before) : "", textOf(after)).flatMap(({ value, added, removed }) =>
    added || removed ? value.replace(/\n$/, "").replaceAll(/^/gm, added ? "+ " : "- ") : [],
  );
  const text = lines.join("\n");
  const rest = text.length > LONGEST_DIFFERENCE ? "\n… and more" : "";
  return `${head}\n${text.slice(0, LONGEST_DIFFERENCE)}${rest}`;
}

function textOf(definition: ToolDefinition): string {
  return stringify(definition, { sortMapEntries: true, lineWidth: 0 });
}

/** A provider would refuse the whole request for one schema that it does not like; the server checks arguments anyway. */
function shownSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const plain = { type: "object", properties: {} };
  const said = Object.entries(schema).filter(([key, value]) => SCHEMA_KEYS.includes(key) && value !== null);
  const text = defused(JSON.stringify({ ...plain, ...Object.fromEntries(said) }));
  const isTaken = Object.keys(schema["properties"] ?? {}).every((name) => PROPERTY_NAME.test(name));
  return isTaken && text.length <= LONGEST_SCHEMA ? (JSON.parse(text) as Record<string, unknown>) : plain;
}
