import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "zod";
import { HarnessError, type HarnessErrorCode } from "../../../errors.ts";
import type { ServerContext } from "./context.ts";
import { withoutPrivateIds } from "./private-ids.ts";

/** Answers with JSON. Messages become plain objects, as LangGraph's clients expect them. */
export function json(c: ServerContext, value: unknown, status: ContentfulStatusCode = 200): Response {
  return jsonText(c, toJson(value), status);
}

/** Answers with text that is JSON already. */
export function jsonText(c: ServerContext, text: string, status: ContentfulStatusCode = 200): Response {
  return c.body(withoutPrivateIds(c.get("user"), text), status, { "content-type": "application/json" });
}

/** Serializes a value. `cache` has the plain form of messages, for callers that serialize the same ones several times. */
export function toJson(value: unknown, cache = new WeakMap<object, object>()): string {
  const plain = (raw: unknown): unknown => {
    if (!isMessage(raw)) return raw;
    const cached = cache.get(raw);
    if (cached) return cached;
    const { type, data } = raw.toDict();
    const message = { ...data, type };
    cache.set(raw, message);
    return message;
  };
  return (
    JSON.stringify(value, function (this: Record<string, unknown>, key, field: unknown) {
      // Messages in lists are converted before their `toJSON`, whose format only LangChain reads.
      if (Array.isArray(field)) return field.map(plain);
      const raw = this[key];
      return isMessage(raw) ? plain(raw) : field;
    }) ?? "null"
  );
}

function isMessage(raw: unknown): raw is { toDict: () => { type: string; data: object } } {
  return (
    typeof raw === "object" && raw !== null && typeof (raw as { toDict?: unknown }).toDict === "function"
  );
}

/** Ends a request with an error. */
export function refuse(status: ContentfulStatusCode, message: string): never {
  throw new HTTPException(status, { message });
}

/** Parses a value by a schema. Answers 422 with one line for an invalid one. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  refuse(422, `${issue?.path.join(".") || "The body"}: ${issue?.message}`);
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

/** The response for an error, in the format of the page and of LangGraph's clients. */
export function failure(error: Error, c: ServerContext): Response {
  const { code, message, status } = failureOf(error);
  return json(c, { error: code, message, detail: message }, status);
}

/** The response for an error on a server with several users: an unexpected error is a warning for the operator only. */
export function redactedFailure(error: Error, c: ServerContext): Response {
  const { code, status } = failureOf(error);
  if (status !== 500) return failure(error, c);
  process.emitWarning(error);
  const message = "Something failed on the server. Its operator can read the error there.";
  return json(c, { error: code, message, detail: message }, status);
}

export function failureOf(error: Error): { code: string; message: string; status: ContentfulStatusCode } {
  if (error instanceof HTTPException) {
    const { status } = error;
    return { code: NAMES[status] ?? String(status), message: error.message, status };
  }
  const harnessError = HarnessError.from(error);
  const { message } = harnessError ?? error;
  const status = harnessError ? STATUSES[harnessError.code] : isRefusal(error) ? 422 : undefined;
  return { code: harnessError?.code ?? error.name, message, status: status ?? 500 };
}

/** Whether LangGraph or LangChain threw an error for invalid input. */
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
