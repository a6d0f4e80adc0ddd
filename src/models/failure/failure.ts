import { retryAfter } from "../retry/retries.ts";
import { chain, messageOf, statusOf, type Link } from "./error-chain.ts";

/** The kinds of failures of a model call. */
export type FailureKind =
  | "refused"
  | "unknown-host"
  | "certificate"
  | "timeout"
  | "cut"
  | "broke-off"
  | "malformed"
  | "cancelled"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "too-long"
  | "rate-limit"
  | "no-quota"
  | "server"
  | "rejected"
  | "other";

export interface Failure {
  kind: FailureKind;
  /** The HTTP status, if there was an answer. */
  status?: number;
  /** The server's or client's message, in one line. May contain secrets. */
  detail: string;
  /** The wait that the server requests, in milliseconds. */
  wait?: number;
}

const NODE_CODES: Record<string, FailureKind> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "refused",
  ENETUNREACH: "refused",
  ENOTFOUND: "unknown-host",
  EAI_AGAIN: "unknown-host",
  ECONNRESET: "cut",
  EPIPE: "cut",
  UND_ERR_SOCKET: "cut",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  CERT_HAS_EXPIRED: "certificate",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate",
};

const NAMES: Record<string, FailureKind> = {
  ContextOverflowError: "too-long",
  TimeoutError: "timeout",
  APIConnectionTimeoutError: "timeout",
  AbortError: "cancelled",
  ModelAbortError: "cancelled",
  SyntaxError: "malformed",
  ZodError: "malformed",
};

const STATUSES: Record<number, FailureKind> = {
  401: "unauthorized",
  402: "no-quota",
  403: "forbidden",
  404: "not-found",
  408: "timeout",
  413: "too-long",
  429: "rate-limit",
};

const NO_QUOTA = /insufficient.?quota|exceeded your current quota|credit balance|out of credits/i;
/** Google also says that the quota is exceeded when it means that of the current minute. */
const TEMPORARY = /(retry|try again) (in|after)/i;
const TOO_LONG =
  /context.?(length|window|limit|size)|prompt is too long|input is too long|maximum context|too many tokens|reduce the length of the messages|input token count .*exceeds|tokens \+ .?max_new_tokens.? must be <=/i;
/**
 * Statuses of requests that are too long: Hugging Face answers 422, llama.cpp 500. A 429 about tokens is a limit per
 * minute.
 */
const TOO_LONG_STATUSES = [400, 422, 500];

/** Finds the kind of a failure. Unwraps the error. */
export function failureOf(error: unknown): Failure {
  const errors = chain(error);
  const names = errors.flatMap((link) => [link["name"], link.constructor?.name]);
  const kindByName = names.map((name) => kindIn(NAMES, name)).find(Boolean);
  const answer = errors.find((link) => statusOf(link) !== undefined);
  if (answer && kindByName !== "too-long") {
    const [status, detail] = [statusOf(answer)!, messageOf(answer)];
    const wait = waitOf(answer);
    return {
      kind: kindOfStatus(status, textOf(answer)),
      status,
      detail,
      wait,
    };
  }
  // The innermost message is the most specific: outer ones are "Connection error." or "fetch failed".
  const detail = errors.map(messageOf).findLast(Boolean) ?? (errors.length > 0 ? "" : String(error));
  const kindByCode = errors.map(({ code }) => kindIn(NODE_CODES, code)).find(Boolean);
  const kindByStream = errors.map((link) => kindInStream(textOf(link))).find(Boolean);
  const kindByCrash = errors.some(isClientCrash) ? "malformed" : undefined;
  return { kind: kindByCode ?? kindByName ?? kindByStream ?? kindByCrash ?? kindOfText(detail), detail };
}

/** Whether a retry of a request that had this response is useless. */
export function isFinal(status: number, text: string): boolean {
  return ["no-quota", "too-long"].includes(kindOfStatus(status, text));
}

function kindOfStatus(status: number, text: string): FailureKind {
  const isSpent = NO_QUOTA.test(text) && !TEMPORARY.test(text);
  if (isSpent && [400, 403, 429].includes(status)) return "no-quota";
  if (TOO_LONG_STATUSES.includes(status) && TOO_LONG.test(text)) return "too-long";
  return STATUSES[status] ?? (status >= 500 ? "server" : "rejected");
}

function kindOfText(text: string): FailureKind {
  // Messages of Undici for a broken connection, of Ollama for an incomplete stream, and of Google for both.
  if (/^terminated$|did not receive done|error reading from the stream|failed to parse stream/i.test(text))
    return "cut";
  return "other";
}

/** The kind of an error without a status, which servers send within a stream or in place of it. */
function kindInStream(text: string): FailureKind | undefined {
  if (TOO_LONG.test(text)) return "too-long";
  return PASSING.test(text) ? "broke-off" : undefined;
}

/** Error types of OpenAI and Anthropic, and messages of Ollama when its model process has ended. */
const PASSING =
  /overloaded|rate_limit|server_error|api_error|timeout_error|server busy|unexpected EOF|runner (process )?has/i;

function textOf(link: Link): string {
  const { type, code, error } = link as Link & { error?: { type?: unknown; code?: unknown } | null };
  return [messageOf(link), type, code, error?.type, error?.code]
    .filter((text) => typeof text === "string")
    .join("\n");
}

function waitOf({ headers, response }: Link): number | undefined {
  const candidates = [headers, (response as Link | undefined)?.["headers"]];
  const responseHeaders = candidates.find((each) => each instanceof Headers);
  return responseHeaders && retryAfter(responseHeaders);
}

/** Whether a client crashed on a malformed answer: a `TypeError` from its own code. */
function isClientCrash({ name, stack }: Link): boolean {
  const thrownAt = typeof stack === "string" ? (/^ +at .*$/m.exec(stack)?.[0] ?? "") : "";
  return name === "TypeError" && /node_modules.(@langchain|openai|ollama)\b/.test(thrownAt);
}

function kindIn(table: Record<string, FailureKind>, key: unknown): FailureKind | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}
