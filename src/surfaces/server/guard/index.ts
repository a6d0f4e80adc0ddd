import { hash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { Auth, ServerContext, ServerEnv } from "../http/index.ts";

export { limitBody } from "./body-limit.ts";

export interface GuardOptions {
  /** Sent as `Authorization: Bearer` or `x-api-key`. Not asked for where `auth` says who it is. */
  token?: string | undefined;
  auth?: Auth | undefined;
  /** Names that the server answers to, besides those of this machine to itself. */
  hosts?: readonly string[] | undefined;
  /** Whether it also answers to every address in numbers: no page can make a browser send one of another site. */
  isOpen?: boolean | undefined;
  /** Origins of other sites whose pages may use it. */
  origins?: readonly string[] | undefined;
}

/** Lets through who may speak to a server that can run commands on this machine, and nobody else. */
export function guard({
  token,
  auth,
  hosts = [],
  isOpen = false,
  origins = [],
}: GuardOptions): MiddlewareHandler<ServerEnv> {
  const names = [...LOOPBACK, ...hosts.map((host) => host.toLowerCase())];
  const isHost = (name: string): boolean =>
    names.includes(name) || (isOpen && isIP(name.replaceAll(/[[\]]/g, "")) !== 0);
  return async (c, next) => {
    const host = (c.req.header("host") ?? new URL(c.req.url).host).toLowerCase();
    if (!isHost(hostname(host))) return refuse(c, 421, `The host ${host} is not served here.`);
    const origin = c.req.header("origin");
    const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
    if (!isOwn && !origins.includes(origin)) {
      return refuse(
        c,
        403,
        `Pages of ${origin} may not use this server; allow it with --allow-origin ${origin}.`,
      );
    }
    if (!isOwn) {
      if (c.req.method === "OPTIONS") return preflight(c, origin);
      for (const [name, value] of Object.entries(corsHeaders(origin))) c.header(name, value);
    }
    for (const [name, value] of Object.entries(isPage(c) ? PAGE_HEADERS : HEADERS)) c.header(name, value);
    if (isPage(c) || PROBES.includes(c.req.path)) return next();
    if (auth) {
      const user = await auth.authenticate(c.req.raw);
      if (!user) return refuse(c, 401, "Nobody is known who sends this.");
      c.set("user", user.id);
    } else if (token !== undefined && !isSame(givenToken(c), token)) {
      return refuse(
        c,
        401,
        "A token is needed: open the address that the server printed, or send it as x-api-key.",
      );
    }
    if (!isJson(c)) return refuse(c, 415, "Only application/json is read here.");
    return next();
  };
}

/** Paths for load balancers, which have no token. */
const PROBES: readonly string[] = ["/ok", "/ready"];

/** Names of this machine for itself. */
const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** The files of the page hold no secret, and a browser asks for them without a token. */
function isPage({ req }: ServerContext): boolean {
  return req.method === "GET" && (req.path === "/" || req.path.startsWith("/assets/"));
}

function hostname(host: string): string {
  return host.replace(/:\d*$/, "");
}

function givenToken({ req }: ServerContext): string {
  return /^Bearer (.+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? req.header("x-api-key") ?? "";
}

/** In the same time whatever is given. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(given), digest(token));
}

/** A body is JSON and says so: a form of another site could send anything else unasked. */
function isJson({ req }: ServerContext): boolean {
  if (req.method === "GET" || req.method === "HEAD") return true;
  const type = req.header("content-type");
  if (type !== undefined) return /^application\/json\s*(;|$)/i.test(type);
  const isEmpty =
    (req.header("content-length") ?? "0") === "0" && req.header("transfer-encoding") === undefined;
  return isEmpty;
}

function corsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    vary: "Origin",
    // LangGraph's client reconnects to where these say.
    "access-control-expose-headers": "Content-Location, Location, X-Pagination-Next, X-Pagination-Total",
  };
}

function preflight(c: ServerContext, origin: string): Response {
  return c.body(null, 204, {
    ...corsHeaders(origin),
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": c.req.header("access-control-request-headers") ?? "",
    "access-control-max-age": "600",
  });
}

function refuse(c: ServerContext, status: 401 | 403 | 415 | 421, message: string): Response {
  return c.json({ error: String(status), message, detail: message }, status);
}

/** Headers of every answer: no type guessing, no referrer, no frames. */
const HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Scripts of the page's own files alone, and no way to make text into one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types default dompurify",
];

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...HEADERS,
  "content-security-policy": POLICY.join("; "),
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
};
