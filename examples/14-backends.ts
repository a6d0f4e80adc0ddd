// Files where you want them: a real folder without a way out of it, a part of the paths in a store across
// threads, and rules about who may touch what.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { createDeepAgent } from "holdfast";
import { compositeBackend, diskBackend, storeBackend } from "holdfast/files";
import { callTool, ScriptedModel } from "holdfast/testing";
import { ToolMessage } from "langchain";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
await writeFile(join(folder, "config.json"), '{ "port": 80 }');
const store = new InMemoryStore();

const model = new ScriptedModel([
  callTool("read_file", { file_path: "/config.json" }),
  callTool("edit_file", { file_path: "/config.json", old_string: "80", new_string: "8080" }),
  callTool("write_file", { file_path: "/memories/ports.md", content: "80 was taken." }),
  callTool("read_file", { file_path: "/../../etc/passwd" }),
  callTool("delete_file", { file_path: "/config.json" }),
  "Done.",
]);
const agent = createDeepAgent({
  model,
  plan: false,
  backend: compositeBackend(diskBackend(folder), { "/memories/": storeBackend(store, ["memories"]) }),
  permissions: [{ effect: "deny", operations: ["delete"], paths: "/**" }],
});
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Port 80 is taken" }] });

for (const message of messages) if (ToolMessage.isInstance(message)) console.log(message.text);
console.log(await readFile(join(folder, "config.json"), "utf8"));
console.log((await store.search(["memories"])).length, "memory");
await rm(folder, { recursive: true });
