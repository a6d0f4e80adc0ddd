import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "zod";
import { HarnessError, type HarnessErrorCode } from "../../../errors.ts";
import type { ServerContext } from "./context.ts";
import { withNames } from "./own-names.ts";

/** Answers with JSON. Messages are plain objects, as LangGraph's clients read them. */
export function json(c: ServerContext, value: unknown, status: ContentfulStatusCode = 200): Response {
  return jsonText(c, toJson(value), status);
}

/** The same for what has been written out already. */
export function jsonText(c: ServerContext, text: string, status: ContentfulStatusCode = 200): Response {
  return c.body(withNames(c.get("user"), text), status, { "content-type": "application/json" });
}

/** `made` keeps what messages come to, for who writes the same ones several times. */
export function toJson(value: unknown, made = new WeakMap<object, object>()): string {
  const plain = (raw: unknown): unknown => {
    if (!isMessage(raw)) return raw;
    const known = made.get(raw);
    if (known) return known;
    const { type, data } = raw.toDict();
    const fresh = { ...data, type };
    made.set(raw, fresh);
    return fresh;
  };
  return (
    JSON.stringify(value, function (this: Record<string, unknown>, key, given: unknown) {
      // Before `toJSON` of each is called, which makes of a message what only LangChain reads.
      if (Array.isArray(given)) return given.map(plain);
      const raw = this[key];
      return isMessage(raw) ? plain(raw) : given;
    }) ?? "null"
  );
}

function isMessage(raw: unknown): raw is { toDict: () => { type: string; data: object } } {
  return (
    typeof raw === "object" && raw !== null && typeof (raw as { toDict?: unknown }).toDict === "function"
  );
}

/** Ends a request with an error for its sender. */
export function refuse(status: ContentfulStatusCode, message: string): never {
  throw new HTTPException(status, { message });
}

/** The JSON object of a request; empty where there is none. Answers 400 for anything else. */
export async function body(c: ServerContext): Promise<Record<string, unknown>> {
  const text = await c.req.text();
  if (text.trim() === "") return {};
  const value = parsed(text);
  if (isDeep(value)) refuse(422, `The body is more than ${MOST_DEPTH} levels deep.`);
  if (isObject(value)) return value;
  refuse(400, "The body is no JSON object.");
}

/** The metadata in what a client sent; empty where there is none. Answers 422 for anything but an object. */
export function metadataOf({ metadata }: Record<string, unknown>): Record<string, unknown> {
  if (metadata === undefined || metadata === null) return {};
  if (isObject(metadata)) return metadata;
  refuse(422, "metadata is no JSON object.");
}

/** Parses a client's value by a schema. Answers 422 with one line for an invalid value. */
export function checked<T>(schema: z.ZodType<T>, given: unknown): T {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  refuse(422, `${issue?.path.join(".") || "The body"}: ${issue?.message}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What is deeper than this, most programs that read it cannot write again. */
const MOST_DEPTH = 500;

function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

const STATUSES: Partial<Record<HarnessErrorCode, ContentfulStatusCode>> = {
  "not-found": 404,
  "thread-busy": 409,
  "thread-changed": 409,
  "plan-conflict": 409,
  "turn-unfinished": 409,
  "edit-withdrawn": 409,
  "invalid-plan": 422,
  "invalid-options": 422,
  "invalid-request": 422,
  "invalid-model": 422,
  "no-model": 422,
  "missing-setting": 422,
  "missing-package": 422,
};

/** The response for an error, in the shape that the page and LangGraph's clients read. */
export function failure(error: Error, c: ServerContext): Response {
  const { code, message, status } = failureOf(error);
  return json(c, { error: code, message, detail: message }, status);
}

/** The same where others use the server, too: what it did not expect is for whoever runs it to read. */
export function redactedFailure(error: Error, c: ServerContext): Response {
  const { code, status } = failureOf(error);
  if (status !== 500) return failure(error, c);
  process.emitWarning(error);
  const message = "Something failed on the server, and its operator is told what.";
  return json(c, { error: code, message, detail: message }, status);
}

export function failureOf(error: Error): { code: string; message: string; status: ContentfulStatusCode } {
  if (error instanceof HTTPException) {
    const { status } = error;
    return { code: NAMES[status] ?? String(status), message: error.message, status };
  }
  const known = HarnessError.from(error);
  const { message } = known ?? error;
  const status = known ? STATUSES[known.code] : isRefusal(error) ? 422 : undefined;
  return { code: known?.code ?? error.name, message, status: status ?? 500 };
}

/** Whether an error of LangGraph or LangChain is about invalid input. */
function isRefusal(error: Error & { lc_error_code?: string }): boolean {
  return REFUSALS.has(error.name) || error.lc_error_code === "MESSAGE_COERCION_FAILURE";
}

const REFUSALS: ReadonlySet<string> = new Set(["InvalidUpdateError", "InvalidNamespaceError"]);

const NAMES: Partial<Record<ContentfulStatusCode, string>> = {
  400: "bad-request",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  413: "too-large",
  422: "invalid-request",
  429: "too-many-streams",
  503: "not-here",
};
