// Holdfast as a tool of another agent: `holdfast mcp` is started as any MCP server, and hands its plan up as progress.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
await writeFile(join(folder, "tides.md"), "High tide at noon.");
const main = join(import.meta.dirname, "../dist/surfaces/cli/main.js");
const client = new Client({ name: "example", version: "1" });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [main, "mcp", "--dir", folder, "--state", join(folder, "threads.db"), "--model", "offline"],
  }),
);
const { tools } = await client.listTools();
console.log("tools:", tools.map(({ name }) => name).join(", "));

const items = new Set<string>();
const result = await client.callTool(
  { name: "run_task", arguments: { task: "Survey this directory" } },
  {
    onprogress: ({ message = "" }) => {
      const item = /#\d+ [^:(]+/.exec(message)?.[0].trim();
      if (item === undefined || items.has(item)) return;
      items.add(item);
      console.log("working on", item);
    },
  },
);
const { thread, state } = result.structuredContent as { thread: string; state: string };
console.log(state);
const { contents } = await client.readResource({ uri: `holdfast://threads/${thread}/plan` });
console.log(contents.map((one) => ("text" in one ? one.text : "")).join(""));
await client.close();
await rm(folder, { recursive: true });
