import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { FUNCTION } from "../middleware/options/index.ts";
import { isRecord } from "../plan/read/index.ts";
import type { McpConfig, McpOptions, McpServer } from "./options.ts";

const texts = z.record(z.string(), z.string());
const common = { timeout: z.number().positive().optional(), disabled: z.boolean().optional() };

const PROGRAM = z.strictObject({
  type: z.literal("stdio").optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: z.string().optional(),
  ...common,
});

const ADDRESS = z.strictObject({
  type: z.enum(["http", "streamable-http"]).optional(),
  url: z.string().min(1),
  headers: texts.optional(),
  oauth: z
    .strictObject({
      clientId: z.string(),
      clientSecret: z.string(),
      issuer: z.string(),
      scope: z.string().optional(),
    })
    .optional(),
  ...common,
});

const duration = z.number().positive();

/** The options next to `mcpServers`; `readMcpConfig` checks the servers. */
const SETTINGS = z
  .strictObject({
    mcpServers: z.unknown(),
    dir: z.string(),
    // `process.env` is no plain object.
    env: z.custom<unknown>(isRecord, "must be an object of variables"),
    startTimeoutMs: duration,
    callTimeoutMs: duration,
    searchAbove: z.number().min(0),
    ask: z.enum(["all", "writes", "none"]),
    pins: z.custom<unknown>(isRecord, "must be an object with of and pin"),
    questions: z.boolean(),
    auth: FUNCTION,
    onNote: FUNCTION,
  } satisfies Record<keyof McpOptions, z.ZodType>)
  .partial();

/** The option `mcp` of a harness; `McpServers` checks its content. */
export const MCP = z.custom<unknown>(isRecord, "must be an object with mcpServers");

/**
 * Checks parsed JSON, such as that of `.mcp.json`, and returns it as servers for the option `mcp`. Does not replace
 * variables. Throws `invalid-options`, which names the server and the field. `where`: the source of the JSON, for that
 * message.
 *
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { createDeepAgent } from "holdfast";
 * import { readMcpConfig } from "holdfast/mcp";
 *
 * const mcp = readMcpConfig(JSON.parse(await readFile(".mcp.json", "utf8")));
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", mcp });
 * ```
 */
export function readMcpConfig(json: unknown, where = ".mcp.json"): McpConfig {
  if (!isRecord(json)) fail(where, "must be an object with mcpServers");
  const { mcpServers, ...others } = json;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) fail(where, `there is no field "${unknown}" (there is mcpServers)`);
  if (!isRecord(mcpServers)) fail(where, "mcpServers must be an object of servers by name");
  for (const [name, server] of Object.entries(mcpServers)) checkServer(name, server, where);
  return { mcpServers: mcpServers as Record<string, McpServer> };
}

/** Checks the whole option `mcp`. `name`: the owner of the option. Throws `invalid-options`. */
export function checkMcpOptions(options: unknown, name: string): asserts options is McpOptions {
  const result = SETTINGS.safeParse(options);
  if (!result.success) fail(name, `mcp: ${problem(result.error, SETTINGS)}`);
  readMcpConfig({ mcpServers: (options as McpOptions).mcpServers }, `${name}: mcp`);
}

function checkServer(name: string, server: unknown, where: string): void {
  const at = `${where}: server "${name}"`;
  if (!isRecord(server)) fail(at, "must be an object with command or url");
  const { command, url, type } = server;
  if (type === "sse") fail(at, 'type: "sse" is of the past; use "http" with the server\'s newer address');
  if ((command === undefined) === (url === undefined)) fail(at, "must have either command or url");
  const schema = command === undefined ? ADDRESS : PROGRAM;
  const result = schema.safeParse(server);
  if (!result.success) fail(at, problem(result.error, schema));
}

function problem({ issues }: z.ZodError, schema: z.ZodObject): string {
  const [issue] = issues;
  const path = issue!.path.join(".");
  if (issue?.code !== "unrecognized_keys") return `${path}: ${issue!.message}`;
  const fields = path === "" ? ` (there are ${Object.keys(schema.shape).join(", ")})` : "";
  return `there is no field "${[...issue.path, issue.keys[0]].join(".")}"${fields}`;
}

/** A server with the values of its variables, or the names of variables that are not set. */
export function withVariables(
  server: McpServer,
  env: Readonly<Record<string, string | undefined>>,
): { server: McpServer } | { missing: string[] } {
  const missing = new Set<string>();
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") {
      return value.replaceAll(
        /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g,
        (_, name: string, standby: string | undefined) => {
          // As in a shell, `:-` also replaces an empty value.
          const variable = standby === undefined ? env[name] : env[name] || standby;
          if (variable === undefined) missing.add(name);
          return variable ?? "";
        },
      );
    }
    if (Array.isArray(value)) return value.map(fill);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
  };
  const filled = fill(server) as McpServer;
  return missing.size > 0 ? { missing: [...missing] } : { server: filled };
}

function fail(where: string, reason: string): never {
  throw new HarnessError("invalid-options", `${where}: ${reason}.`);
}
