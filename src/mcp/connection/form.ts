import type { ElicitResult } from "@modelcontextprotocol/client";
import { attempt } from "../../errors.ts";
import type { ClarificationRequest } from "../../middleware/clarification/index.ts";
import { isRecord } from "../../plan/read/index.ts";

/** The parts of a form's field that are read here. */
interface Field {
  type?: string;
  title?: string;
  description?: string;
  enum?: string[];
  oneOf?: { const: string }[];
  items?: { enum?: string[]; anyOf?: { const: string }[] };
}

/** A server's question to the user: MCP's elicitation. */
export interface FormQuestion {
  server: string;
  message: string;
  fields: Record<string, Field>;
  required: readonly string[];
}

export function formQuestion(server: string, params: unknown): FormQuestion {
  const { message = "", requestedSchema: schema } = params as {
    message?: string;
    requestedSchema?: { properties?: Record<string, Field>; required?: string[] };
  };
  return { server, message, fields: schema?.properties ?? {}, required: schema?.required ?? [] };
}

/** The interrupt for a question, in the form of a model's own questions. */
export function toClarification(question: FormQuestion, error?: string): ClarificationRequest {
  const { server, message, fields } = question;
  const entries = Object.entries(fields);
  const [only] = entries.length === 1 ? entries : [];
  const options = entries.length === 0 ? ["yes"] : only && choicesOf(only[1]);
  const form = entries.length > 1 || (only && !options) ? formText(question) : "";
  return {
    type: "clarification",
    version: 1,
    question: [error, message, form].filter(Boolean).join("\n"),
    context: `The MCP server ${server} asks you (it gets your answer; say "decline" to give none):`,
    options: options ? [...options, "decline"] : undefined,
  };
}

function formText({ fields, required }: FormQuestion): string {
  const lines = Object.entries(fields).map(([name, field]) => {
    const { type = "string", description, title } = field;
    const kind = choicesOf(field)?.join(" or ") ?? (type === "string" ? "text" : type);
    const about = [kind, ...(required.includes(name) ? [] : ["may be left out"])].join(", ");
    const words = description ?? title;
    return `${name}: (${about})${words === undefined ? "" : ` ${words}`}`;
  });
  return lines.length === 1
    ? lines.join("")
    : `Answer with lines such as these, or as JSON:\n${lines.join("\n")}`;
}

/** The answer for the server, or a text that explains why it is invalid. */
export function readForm(answer: unknown, { fields, required }: FormQuestion): ElicitResult | string {
  const value: unknown = isRecord(answer) && "answer" in answer ? answer["answer"] : answer;
  const text = typeof value === "string" ? value.trim() : "";
  if (typeof value === "string" && (text === "" || /^cancel[.!]?$/i.test(text))) return { action: "cancel" };
  if (/^decline[.!]?$/i.test(text)) return { action: "decline" };
  const names = Object.keys(fields);
  const answers = isRecord(value) ? value : (readJson(text) ?? readLines(text, names));
  const content: NonNullable<ElicitResult["content"]> = {};
  for (const name of names) {
    const raw = answers[name];
    if (raw === undefined || raw === "") {
      if (required.includes(name)) return `There is no ${name} in the answer.`;
      continue;
    }
    const read = readField(fields[name]!, raw);
    if (read === undefined) return `${name} is ${kindOf(fields[name]!)}; got ${JSON.stringify(raw)}.`;
    content[name] = read;
  }
  return { action: "accept", content };
}

function readField(field: Field, raw: unknown): string | number | boolean | string[] | undefined {
  const choices = choicesOf(field);
  switch (field.type) {
    case "boolean":
      if (typeof raw === "boolean") return raw;
      return (
        /^(?:yes|y|true)$/i.test(String(raw)) || (/^(?:no|n|false)$/i.test(String(raw)) ? false : undefined)
      );
    case "number":
    case "integer": {
      const number = Number(raw);
      return Number.isFinite(number) && (field.type === "number" || Number.isInteger(number))
        ? number
        : undefined;
    }
    case "array": {
      const all = Array.isArray(raw)
        ? raw.map(String)
        : String(raw)
            .split(",")
            .map((one) => one.trim());
      return choices && all.some((one) => !choices.includes(one)) ? undefined : all;
    }
    default:
      return choices && !choices.includes(String(raw)) ? undefined : String(raw);
  }
}

function kindOf(field: Field): string {
  const choices = choicesOf(field);
  return choices ? `one of ${choices.join(", ")}` : `a ${field.type ?? "text"}`;
}

function choicesOf({ type, enum: plain, oneOf, items }: Field): string[] | undefined {
  if (type === "boolean") return ["yes", "no"];
  if (type === "array") return items?.enum ?? items?.anyOf?.map((one) => one.const);
  return plain ?? oneOf?.map((one) => one.const);
}

function readJson(text: string): Record<string, unknown> | undefined {
  return text.startsWith("{") ? attempt(() => JSON.parse(text) as Record<string, unknown>) : undefined;
}

/** Reads lines of `name: value`; for a single field the whole text may be the value. */
function readLines(text: string, names: readonly string[]): Record<string, unknown> {
  const lines = text.split("\n").flatMap((line): [string, string][] => {
    const [, name = "", value = ""] = /^\s*([^:]+?)\s*:\s*(.*)$/.exec(line) ?? [];
    return names.includes(name) ? [[name, value.trim()]] : [];
  });
  if (lines.length === 0 && names.length === 1) return { [names[0]!]: text };
  return Object.fromEntries(lines);
}
