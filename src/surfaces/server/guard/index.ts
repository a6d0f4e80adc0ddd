import { hash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { Auth, ServerContext, ServerEnv } from "../http/index.ts";

export { limitBody } from "./body-limit.ts";

export interface GuardOptions {
  /** The token to send as `Authorization: Bearer` or `x-api-key`. Not used with `auth`. */
  token?: string;
  auth?: Auth;
  /** Host names of the server besides the loopback names. */
  hosts?: readonly string[];
  /** Whether any IP address is a valid host: DNS rebinding needs a name. */
  isOpen?: boolean;
  /** Origins of other sites whose pages may use the server. */
  origins?: readonly string[];
}

/** Authorizes requests by host, origin, token or user, and content type: the server can run commands on this machine. */
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
      if (!user) return refuse(c, 401, "The sender is not authenticated.");
      c.set("user", user.id);
    } else if (token !== undefined && !isSame(sentToken(c), token)) {
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

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** Whether a request is for a file of the page: public, as a browser requests it without a token. */
function isPage({ req }: ServerContext): boolean {
  return req.method === "GET" && (req.path === "/" || req.path.startsWith("/assets/"));
}

function hostname(host: string): string {
  return host.replace(/:\d*$/, "");
}

function sentToken({ req }: ServerContext): string {
  return /^Bearer (.+)$/i.exec(req.header("authorization") ?? "")?.[1] ?? req.header("x-api-key") ?? "";
}

/** Compares in constant time. */
function isSame(sent: string, token: string): boolean {
  const digest = (text: string): Buffer => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(sent), digest(token));
}

/** Whether a body is declared as JSON, or absent: forms of other sites can send any other type without a preflight. */
function isJson({ req }: ServerContext): boolean {
  if (req.method === "GET" || req.method === "HEAD") return true;
  const type = req.header("content-type");
  if (type !== undefined) return /^application\/json\s*(;|$)/i.test(type);
  return (req.header("content-length") ?? "0") === "0" && req.header("transfer-encoding") === undefined;
}

function corsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    vary: "Origin",
    // LangGraph's client reads these to reconnect and to page.
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

const HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** The page runs only its own script files, and never text as script. */
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
