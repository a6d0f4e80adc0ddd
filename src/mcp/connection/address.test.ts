import type { ToolMessage } from "@langchain/core/messages";
import { afterEach, describe, expect, it } from "vitest";
import { startAddressServer, type AddressServer } from "../../../test/helpers/mcp/address-server.ts";
import { mcpTools, type McpTools } from "../index.ts";

let server: AddressServer | undefined;
let mcp: McpTools | undefined;
afterEach(async () => {
  await mcp?.close();
  server?.stop();
});

async function connect(more: object, options?: object): Promise<McpTools> {
  const mcpServers = { a: { url: server!.url, ...more } };
  mcp = await mcpTools({ mcpServers, onNote: () => {}, env: { ID: "me", SECRET: "hush-hush" }, ...options });
  return mcp;
}

const hello = ({ tools: [tool] }: McpTools): Promise<ToolMessage> =>
  tool!.invoke({ type: "tool_call", id: "1", name: tool!.name, args: {} }) as Promise<ToolMessage>;

const oauth = () => ({
  clientId: "${ID}",
  clientSecret: "${SECRET}",
  scope: "read",
  issuer: new URL(server!.url).origin,
});

describe("a server at an address", () => {
  it("is signed in to with OAuth, as a program", async () => {
    server = await startAddressServer();
    const result = await hello(await connect({ oauth: oauth() }));
    expect(result.text).toContain("hello in session s0");
    const basic = `Basic ${Buffer.from("me:hush-hush").toString("base64")}`;
    expect(server.signIns).toHaveLength(1);
    expect(server.signIns[0]).toMatch(new RegExp(`^${basic} .*grant_type=client_credentials`));
    expect(server.signIns[0]).toContain("scope=read");
  });

  it("is signed in to by a provider of the user's", async () => {
    server = await startAddressServer();
    const { ClientCredentialsProvider } = await import("@modelcontextprotocol/client");
    const provider = new ClientCredentialsProvider({
      clientId: "you",
      clientSecret: "psst-psst",
      expectedIssuer: new URL(server.url).origin,
    });
    const result = await hello(await connect({}, { auth: () => provider }));
    expect(result.text).toContain("hello");
    expect(server.signIns).toHaveLength(1);
  });

  it("gets the headers of its configuration, with variables", async () => {
    server = await startAddressServer();
    const made = await connect({ headers: { authorization: "Bearer ${KEY}" } }, { env: { KEY: "access-1" } });
    expect((await hello(made)).text).toContain("hello");
    expect(new Set(server.tokens)).toEqual(new Set(["Bearer access-1"]));
  });

  it("becomes a note when it requires a sign-in and no user can sign in", async () => {
    server = await startAddressServer();
    const { tools, notes } = await connect({ headers: { authorization: "Bearer wrong-key" } });
    expect(tools).toEqual([]);
    expect(notes).toEqual([expect.stringContaining("The MCP server a is not used:")]);
    expect(notes[0]).not.toContain("wrong-key");
  });

  it("gets a new session after a restart, and the call is made again", async () => {
    server = await startAddressServer();
    const made = await connect({ oauth: oauth() });
    server.forget();
    expect((await hello(made)).text).toContain("hello in session s1");
  });

  it("is cut off when its answer has no end", async () => {
    server = await startAddressServer({ flood: true });
    const result = await hello(await connect({ oauth: oauth() }));
    expect(result).toMatchObject({ status: "error" });
    expect(result.text).toContain("It answered with more than 64 MB.");
  });

  it("is reported to the model when it is gone", async () => {
    server = await startAddressServer();
    const made = await connect({ oauth: oauth() });
    server.stop();
    const result = await hello(made);
    expect(result.status).toBe("error");
    expect(result.text).toMatch(/ECONNREFUSED|fetch failed/);
  });
});
