// The offline model plays a language model for one real job: it plans, delegates, and surveys a directory with the file
// tools. Nothing in it is made up; given any other task, it says what it can do.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent } from "holdfast";
import { diskBackend } from "holdfast/files";
import { OfflineModel } from "holdfast/models";
import { renderChecklist } from "holdfast/plan";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
await writeFile(join(folder, "kelp.ts"), "export const anchors = 1; // TODO: count them\n");
await writeFile(join(folder, "copy.ts"), "export const anchors = 1; // TODO: count them\n");

const agent = createDeepAgent({ model: new OfflineModel(), backend: diskBackend(folder) });
const survey = await agent.invoke({ messages: [{ role: "user", content: "Survey this directory" }] });
console.log(renderChecklist(survey.todos));
console.log(survey.messages.at(-1)?.text);
console.log((await readFile(join(folder, "survey.md"), "utf8")).split("\n", 1)[0]);

const poem = await agent.invoke({ messages: [{ role: "user", content: "Write a poem" }] });
console.log(poem.messages.at(-1)?.text);
await rm(folder, { recursive: true });
