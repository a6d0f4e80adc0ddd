import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { readRoles } from "../middleware/roles/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";
import type { DeepAgentOptions, SubagentSpec } from "./options.ts";

const go = { messages: [new HumanMessage("go")] };
const note = tool(() => "noted", { name: "note", description: "notes", schema: z.object({}) });

type Options = Pick<
  DeepAgentOptions,
  "web" | "maxDepth" | "background" | "subagents" | "fileTools" | "generalPurpose"
>;

/** The first request of a sub-agent: its system prompt and its tools. */
async function requestOf(subagent_type: string, options: Options = {}) {
  const task = callTool("task", { description: "read /a", subagent_type });
  const model = new ScriptedModel([task, "Read.", "Done."]);
  await createDeepAgent({ model, tools: [note], instructions: ["Be brief."], ...options }).invoke(go);
  const { messages, tools } = model.requests[1]!;
  const names = (tools as { function: { name: string } }[]).map((one) => one.function.name);
  return {
    system: messages[0]!.text,
    names,
    bytes: Buffer.byteLength(messages[0]!.text + JSON.stringify(tools)),
  };
}

it("a reader has file and web tools to read with, no more, in at most 3 kB", async () => {
  const { system, names, bytes } = await requestOf("reader", { web: true, maxDepth: 2, background: true });
  expect(names.toSorted()).toEqual(["glob", "grep", "ls", "read_file", "web_fetch"]);
  expect(system).not.toContain("Plan");
  expect(system).not.toContain("Be brief.");
  expect(bytes).toBeLessThanOrEqual(3000);
  const general = await requestOf("general-purpose", { web: true });
  expect(bytes).toBeLessThan(general.bytes / 2);
});

it("the reader is missing without reading tools or with the user's sub-agents alone", async () => {
  const cases: Options[] = [{ fileTools: ["write_file"] }, { generalPurpose: false, subagents: [scout()] }];
  for (const options of cases) {
    const model = new ScriptedModel([callTool("task", { description: "x", subagent_type: "reader" }), "ok"]);
    const { messages } = await createDeepAgent({ model, ...options }).invoke(go);
    const answer = messages.find((message) => ToolMessage.isInstance(message))!;
    expect(answer.text).toContain('there is no sub-agent "reader"');
  }
});

it("a sub-agent uses the instructions, file tools and skills of its own definition", async () => {
  const own = { instructions: ["Count twice."], fileTools: ["ls"], plan: false, skills: [] } as const;
  const { system, names } = await requestOf("scout", { subagents: [scout(own)] });
  expect(system).toContain("Count twice.");
  expect(system).not.toContain("Be brief.");
  expect(names.toSorted()).toEqual(["ls", "note"]);
});

it("a sub-agent that names its tools has these alone, of its parent's", async () => {
  const named = scout({ tools: ["read_file", "note", "web_fetch"] });
  const { names } = await requestOf("scout", { web: true, subagents: [named], maxDepth: 2 });
  expect(names.toSorted()).toEqual(["note", "read_file", "web_fetch"]);
  const planner = scout({ tools: ["write_todos", "task"] });
  const wider = await requestOf("scout", { subagents: [planner], maxDepth: 2 });
  expect(wider.names.toSorted()).toEqual(["task", "update_todos", "write_todos"]);
  const wrong = () => createDeepAgent({ tools: [note], subagents: [scout({ tools: ["sing"] })] });
  expect(wrong).toThrow('subagents.scout.tools names "sing", which does not exist; available: ls, read_file');
});

it("a role's file gives a sub-agent its prompt, tools, skills and budget", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-roles-"));
  try {
    const text =
      "---\nname: scout\ndescription: looks\ntools: Read, note\nskills: [cite]\nbudget:\n  calls: 1\n---\nBe quick.\n";
    mkdirSync(join(folder, "skills/cite"), { recursive: true });
    mkdirSync(join(folder, "skills/draw"));
    writeFileSync(join(folder, "scout.md"), text);
    for (const name of ["cite", "draw"]) {
      writeFileSync(
        join(folder, `skills/${name}/SKILL.md`),
        `---\nname: ${name}\ndescription: to ${name}\n---\n`,
      );
    }
    const { roles, notes, remarks } = await readRoles([folder], { tools: ["note"] });
    expect([...notes, ...remarks]).toEqual([]);
    const task = callTool("task", { description: "look", subagent_type: "scout" });
    const model = new ScriptedModel([task, callTool("note", {}), "Done."]);
    const skills = [join(folder, "skills")];
    const { messages } = await createDeepAgent({ model, tools: [note], skills, subagents: roles }).invoke(go);
    const { messages: request, tools } = model.requests[1]!;
    expect(request[0]!.text).toContain("Be quick.");
    expect(request[0]!.text).toContain("- cite: to cite");
    expect(request[0]!.text).not.toContain("- draw");
    expect(JSON.stringify(tools)).not.toContain("write_file");
    expect(messages.at(-2)!.text).toContain(
      "[In part: Stopped after 1 model call, the most for this sub-agent.]",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function scout(more: Partial<SubagentSpec> = {}): SubagentSpec {
  return { name: "scout", description: "looks", ...more };
}
