// Tools of MCP servers: one that is a program of this machine. What writes waits for consent; what only reads does not.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "holdfast";
import { mcpTools } from "holdfast/mcp";
import { callTool, ScriptedModel } from "holdfast/testing";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
await writeFile(join(folder, "tides.md"), "High tide at noon.");
const server = join(
  import.meta.dirname,
  "../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);
const mcp = {
  mcpServers: { files: { command: "node", args: [server, "${FOLDER}"] } },
  env: { FOLDER: folder },
  ask: "writes" as const,
};

const path = join(folder, "plan.md");
const model = new ScriptedModel([
  callTool("find_tools", { query: "read a text file" }),
  callTool("mcp__files__read_text_file", { path: join(folder, "tides.md") }),
  callTool("mcp__files__write_file", { path, content: "Sail at eleven." }),
  "The plan is written.",
]);
// Definitions of more than so many tokens are not sent: a search tool stands for them.
const agent = createDeepAgent({
  model,
  mcp: { ...mcp, searchAbove: 1000 },
  plan: false,
  checkpointer: new MemorySaver(),
});
const config = { configurable: { thread_id: "1" } };
const paused = await agent.invoke({ messages: [{ role: "user", content: "When do we sail?" }] }, config);
const [question] = (paused as unknown as Record<string, { value: { name: string } }[]>)["__interrupt__"]!;
console.log("May it call", question!.value.name, "?");
await agent.invoke(new Command({ resume: { type: "approve" } }), config);
console.log("written:", await readFile(path, "utf8"));
for (const { tools } of model.requests) {
  const names = (tools as { function: { name: string } }[]).map((one) => one.function.name);
  console.log("the model is offered:", names.filter((name) => /mcp__|find_tools/.test(name)).join(", "));
}

// The same tools for any agent, until they are closed.
const { tools, notes, close } = await mcpTools({ ...mcp, onNote: () => {} });
console.log(tools.length, "tools;", notes.length, "servers that cannot be used");
await close();
await rm(folder, { recursive: true });
