import { attempt } from "../../errors.ts";

/** An error, or what was thrown in place of one. */
export type Link = Record<string, unknown>;

/** The error, its causes, and the errors of an `AggregateError`, from the outside in. */
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

/** The HTTP status that an error carries, wherever its client puts it. */
export function statusOf(link: Link): number | undefined {
  const { status, statusCode, status_code, response } = link as Record<string, unknown> & {
    response?: { status?: unknown };
  };
  return [status, statusCode, status_code, response?.status].find(
    (value): value is number => typeof value === "number" && value >= 400 && value < 600,
  );
}

/** One line of what was said. Clients hand on the server's JSON as it is, or put words in front of it. */
export function messageOf({ error, message }: Link): string {
  if (typeof message !== "string") return "";
  const body = attempt((): unknown => JSON.parse(message.slice(message.indexOf("{"))));
  const text = said(error) ?? said(body) ?? withoutFront(message);
  const line = text.trim().split("\n")[0]!.trim();
  return line.startsWith("<") ? "" : line;
}

/** The characters of a message that are searched for a prefix: a server may send anything. */
const FRONT = 1000;

function withoutFront(message: string): string {
  return message.slice(0, FRONT).replace(/^\d{3} |^.*\[\d{3} [^\]]*\] /, "") + message.slice(FRONT);
}

function said(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error, message } = body as Link;
  if (typeof message === "string") return message;
  return typeof error === "string" ? error : said(error);
}
