import { retryAfter } from "../retry/retries.ts";
import { chain, messageOf, statusOf, type Link } from "./error-chain.ts";

/** Kinds of failure between the process and a model. */
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
  /** The HTTP status, where there was an answer. */
  status?: number;
  /** The server's or client's message, in one line. May hold secrets. */
  detail: string;
  /** The milliseconds that the server asks to wait. */
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
/** Google says that the quota is exceeded when it means that of this minute. */
const PASSES = /(retry|try again) (in|after)/i;
const TOO_LONG =
  /context.?(length|window|limit|size)|prompt is too long|input is too long|maximum context|too many tokens|reduce the length of the messages|input token count .*exceeds|tokens \+ .?max_new_tokens.? must be <=/i;
/**
 * Statuses of requests that are too long: Hugging Face answers 422, llama.cpp 500. A 429 about tokens means the limit
 * per minute.
 */
const TOO_LONG_STATUSES = [400, 422, 500];

/** Finds out what kind of failure an error is, through everything that wrapped it. */
export function failureOf(error: unknown): Failure {
  const errors = chain(error);
  const names = errors.flatMap((link) => [link["name"], link.constructor?.name]);
  const named = first(names, (name) => own(NAMES, name));
  const answer = errors.find((link) => statusOf(link) !== undefined);
  if (answer && named !== "too-long") {
    const [status, detail] = [statusOf(answer)!, messageOf(answer)];
    const wait = waitOf(answer);
    return {
      kind: kindOfStatus(status, saidBy(answer)),
      status,
      detail,
      ...(wait !== undefined && { wait }),
    };
  }
  // The innermost message says most: around it stands "Connection error." or "fetch failed".
  const detail = errors.map(messageOf).findLast(Boolean) ?? (errors.length > 0 ? "" : String(error));
  const coded = first(errors, ({ code }) => own(NODE_CODES, code));
  const crashed = errors.some(isClientCrash) ? "malformed" : undefined;
  const told = first(errors, (link) => kindInStream(saidBy(link)));
  return { kind: coded ?? named ?? told ?? crashed ?? kindOfText(detail), detail };
}

/** Whether a response with this status and text will be the same however often the request is sent again. */
export function isFinal(status: number, text: string): boolean {
  return ["no-quota", "too-long"].includes(kindOfStatus(status, text));
}

function kindOfStatus(status: number, text: string): FailureKind {
  const isSpent = NO_QUOTA.test(text) && !PASSES.test(text);
  if (isSpent && [400, 403, 429].includes(status)) return "no-quota";
  if (TOO_LONG_STATUSES.includes(status) && TOO_LONG.test(text)) return "too-long";
  return STATUSES[status] ?? (status >= 500 ? "server" : "rejected");
}

function kindOfText(text: string): FailureKind {
  // Undici's word for a connection that broke, Ollama's for a stream without its end, and what Google makes of both.
  if (/^terminated$|did not receive done|error reading from the stream|failed to parse stream/i.test(text))
    return "cut";
  return "other";
}

/** An error without a status: servers send one in the middle of a stream, or in place of it after a status of 200. */
function kindInStream(text: string): FailureKind | undefined {
  if (TOO_LONG.test(text)) return "too-long";
  return PASSING.test(text) ? "broke-off" : undefined;
}

/** The types of OpenAI and Anthropic, and what Ollama says when the process behind it has ended. */
const PASSING =
  /overloaded|rate_limit|server_error|api_error|timeout_error|server busy|unexpected EOF|runner (process )?has/i;

function saidBy(link: Link): string {
  const { type, code, error } = link as Link & { error?: { type?: unknown; code?: unknown } | null };
  return [messageOf(link), type, code, error?.type, error?.code]
    .filter((text) => typeof text === "string")
    .join("\n");
}

function waitOf({ headers, response }: Link): number | undefined {
  const found = [headers, (response as Link | undefined)?.["headers"]].find(
    (each) => each instanceof Headers,
  );
  return found && retryAfter(found);
}

/** A client that fell over what it got: `undefined` where every answer has something. */
function isClientCrash({ name, stack }: Link): boolean {
  const thrownAt = typeof stack === "string" ? (/^ +at .*$/m.exec(stack)?.[0] ?? "") : "";
  return name === "TypeError" && /node_modules.(@langchain|openai|ollama)\b/.test(thrownAt);
}

function first<T, R>(list: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function own(table: Record<string, FailureKind>, key: unknown): FailureKind | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}
