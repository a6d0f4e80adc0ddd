import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { makeLeadAgent } from "../lead/index.ts";
import { withVariables, readMcpConfig } from "./config.ts";
import type { McpServer } from "./options.ts";

const one = (server: unknown) => ({ mcpServers: { github: server } });

describe("the configuration of servers", () => {
  it("is taken as .mcp.json has it", () => {
    const json = {
      mcpServers: {
        files: { command: "npx", args: ["-y", "server"], env: { A: "1" }, cwd: "/tmp" },
        remote: { type: "http", url: "https://example.com/mcp", headers: { authorization: "Bearer ${KEY}" } },
        off: { type: "stdio", command: "x", disabled: true, timeout: 1000 },
      },
    };
    expect(readMcpConfig(json)).toEqual(json);
  });

  it.each([
    [[], ".mcp.json: must be an object with mcpServers."],
    [{}, ".mcp.json: mcpServers must be an object of servers by name."],
    [{ servers: {} }, '.mcp.json: there is no field "servers" (there is mcpServers).'],
    [one("npx"), '.mcp.json: server "github": must be an object with command or url.'],
    [one({}), '.mcp.json: server "github": must have either command or url.'],
    [one({ command: "a", url: "b" }), '.mcp.json: server "github": must have either command or url.'],
    [
      one({ command: "a", arg: [] }),
      '.mcp.json: server "github": there is no field "arg" (there are type, command, args, env, cwd, timeout, disabled).',
    ],
    [
      one({ command: "a", args: "b" }),
      '.mcp.json: server "github": args: Invalid input: expected array, received string.',
    ],
    [one({ type: "sse", url: "http://x" }), /server "github": type: "sse" is of the past/],
    [one({ url: "http://x", headers: { a: 1 } }), /server "github": headers\.a: /],
    [one({ url: "http://x", oauth: { id: 1 } }), /server "github": oauth\.clientId: /],
  ])("is refused with the server and the field: %j", (json, message) => {
    expect(() => readMcpConfig(json)).toThrow(message);
  });

  it("is checked with the other options of an agent", () => {
    const mcp = one({ command: "a", argh: 1 }) as never;
    const reason = /mcp: server "github": there is no field "argh"/;
    expect(() => createDeepAgent({ model: "openai:x", mcp })).toThrow(reason);
    expect(() => makeLeadAgent({}, { model: "openai:x", mcp })).toThrow(reason);
    const misspelled = { mcpServers: {}, searchabove: 1 } as never;
    expect(() => createDeepAgent({ model: "openai:x", mcp: misspelled })).toThrow('no field "searchabove"');
  });

  it("has variables in every text, with what stands in for them", () => {
    const server = {
      command: "${TOOL}",
      args: ["--dir=${DIR:-/tmp}", "${EMPTY:-full}", "${EMPTY}", "$HOME"],
      env: { KEY: "a${KEY}b" },
    };
    const env = { TOOL: "npx", EMPTY: "", KEY: "1" };
    expect(withVariables(server, env)).toEqual({
      server: { command: "npx", args: ["--dir=/tmp", "full", "", "$HOME"], env: { KEY: "a1b" } },
    });
    const lacking: McpServer = { url: "https://${HOST}/", headers: { a: "${KEY}${HOST}${MISSING}" } };
    expect(withVariables(lacking, env)).toEqual({ missing: ["HOST", "MISSING"] });
  });
});
