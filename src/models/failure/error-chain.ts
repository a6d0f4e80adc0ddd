import { attempt } from "../../errors.ts";

/** An error, or another object that was thrown. */
export type Link = Record<string, unknown>;

/** The error, its causes, and the errors of an `AggregateError`, outermost first. */
export function chain(error: unknown): Link[] {
  const links: Link[] = [];
  const queue = [error];
  for (const at of queue) {
    if (typeof at !== "object" || at === null || links.includes(at as Link)) continue;
    const link = at as Link;
    links.push(link);
    queue.push(link["cause"], ...(Array.isArray(link["errors"]) ? (link["errors"] as unknown[]) : []));
  }
  return links;
}

/** The HTTP status of an error, in any of the fields that clients use. */
export function statusOf(link: Link): number | undefined {
  const { status, statusCode, status_code, response } = link as Record<string, unknown> & {
    response?: { status?: unknown };
  };
  return [status, statusCode, status_code, response?.status].find(
    (value): value is number => typeof value === "number" && value >= 400 && value < 600,
  );
}

/** The message in one line. Clients pass on the server's JSON, some with a prefix. */
export function messageOf({ error, message }: Link): string {
  if (typeof message !== "string") return "";
  const body = attempt((): unknown => JSON.parse(message.slice(message.indexOf("{"))));
  const text = textIn(error) ?? textIn(body) ?? withoutPrefix(message);
  const line = text.trim().split("\n")[0]!.trim();
  return line.startsWith("<") ? "" : line;
}

/** The part of a message that is searched for a prefix: a server may send anything. */
const MAX_PREFIX = 1000;

function withoutPrefix(message: string): string {
  const start = message.slice(0, MAX_PREFIX).replace(/^\d{3} |^.*\[\d{3} [^\]]*\] /, "");
  return start + message.slice(MAX_PREFIX);
}

function textIn(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error, message } = body as Link;
  if (typeof message === "string") return message;
  return typeof error === "string" ? error : textIn(error);
}
