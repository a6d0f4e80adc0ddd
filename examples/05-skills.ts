// What a project knows, in few tokens: instructions from AGENTS.md in the prompt, and skills of which only names and
// descriptions are. The agent reads the rest when it needs it, with its file tools, or the user calls one by /name.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent, readSkills } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";
import { ToolMessage } from "langchain";

const project = await mkdtemp(join(tmpdir(), "holdfast-"));
const skills = join(project, ".agents/skills");
await mkdir(join(skills, "release-notes"), { recursive: true });
await writeFile(join(project, "AGENTS.md"), "Write in plain English.\n");
await writeFile(
  join(skills, "release-notes/SKILL.md"),
  `---
name: release-notes
description: Writes release notes from a list of changes. Use it when somebody asks for a changelog.
---
Group the changes for $ARGUMENTS by what a user notices. One line each.
`,
);

const { notes } = await readSkills([skills]);
console.log(`${notes.length} skills cannot be used.`);

const model = new ScriptedModel([
  callTool("read_file", { file_path: "/.skills/release-notes/SKILL.md" }),
  "Read it.",
  "Called it.",
]);
const agent = createDeepAgent({
  model,
  plan: false,
  instructions: [{ file: join(project, "AGENTS.md") }],
  skills: [skills],
});

const { messages } = await agent.invoke({ messages: [{ role: "user", content: "What changed?" }] });
for (const message of messages) if (ToolMessage.isInstance(message)) console.log(message.text);

await agent.invoke({ messages: [{ role: "user", content: "/release-notes version 2" }] });
console.log(model.requests[0]!.messages[0]!.text.split("\n").slice(-3).join("\n"));
console.log(model.requests.at(-1)!.messages.at(-1)!.text);
await rm(project, { recursive: true });
