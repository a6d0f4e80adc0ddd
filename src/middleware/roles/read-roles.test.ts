import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FILE_ARGUMENTS } from "../files/schemas.ts";
import { OWN_TOOLS, readRoles } from "./index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-roles-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, fields: string, prompt = "Look.\n"): void {
  writeFileSync(join(folder, name), `---\n${fields}\n---\n${prompt}`);
}
const read = async (options?: Parameters<typeof readRoles>[1]) => {
  const { roles, notes, remarks } = await readRoles([folder], options);
  const said = [...notes, ...remarks].map((text) => text.replace(`${folder}/`, ""));
  return { roles, said };
};

describe("a role", () => {
  it("takes its settings from the frontmatter and its prompt from the text below", async () => {
    const fields = [
      "name: scout",
      "description: looks",
      "tools: [read_file, web_fetch]",
      "model: openai:gpt-5.1",
      "skills: cite, draw",
      "mcp: [github]",
      "budget: { tokens: 20000, calls: 8, minutes: 2 }",
      "color: red",
    ];
    put("scout.md", fields.join("\n"));
    expect(await read()).toEqual({
      roles: [
        {
          name: "scout",
          description: "looks",
          prompt: "Look.",
          tools: ["read_file", "web_fetch"],
          model: "openai:gpt-5.1",
          skills: { only: ["cite", "draw"] },
          mcp: { only: ["github"] },
          budget: { tokens: 20_000, modelCalls: 8 },
          timeLimit: 120_000,
        },
      ],
      said: [],
    });
  });

  it("in another agent's format is understood: tool names, server tools and model", async () => {
    put(
      "scout.md",
      "name: scout\ndescription: looks\ntools: Read, Glob, Bash, mcp__github__get_issue\nmodel: inherit",
    );
    const { roles, said } = await read();
    expect(roles[0]).toMatchObject({
      tools: ["read_file", "glob", "ls", "execute"],
      mcp: { only: ["mcp__github__get_issue"] },
    });
    expect(roles[0]).not.toHaveProperty("model");
    expect(said).toEqual([]);
  });

  it("without any known tool has no tools", async () => {
    put("scout.md", "name: scout\ndescription: looks\ntools: Sing");
    const { roles, said } = await read();
    expect(roles[0]).toMatchObject({ tools: [], fileTools: [], plan: false, subagents: false });
    expect(said).toEqual(['scout.md: there is no tool "Sing".']);
  });

  it("with an error is skipped with one line that names its path", async () => {
    writeFileSync(join(folder, "a.md"), "Look.");
    put("b.md", "description: looks");
    put("c.md", "name: c\ndescription: looks", "");
    put("d.md", "name: d\ndescription: looks\nbudget: { dollars: 3 }");
    put("e.md", "name: e\ndescription: looks\nmodel: sonnet");
    put("f.md", "name: [f");
    mkdirSync(join(folder, "g.md"));
    symlinkSync(import.meta.filename, join(folder, "h.md"));
    put("notes.txt", "not a role");
    const { roles, said } = await read();
    expect(roles.map(({ name }) => name)).toEqual(["e"]);
    expect(said).toEqual([
      "a.md does not begin with frontmatter between two lines of ---.",
      "b.md has frontmatter that cannot be used: name is missing.",
      "c.md has no prompt below its frontmatter.",
      "d.md has frontmatter that cannot be used: budget must have tokens, calls or minutes.",
      expect.stringMatching(/^f\.md has frontmatter that is not YAML: /),
      "g.md is no file.",
      expect.stringMatching(/^h\.md leads out of .*, and was left out\.$/),
      'e.md: the model "sonnet" is not provider:name; it has the agent\'s.',
    ]);
  });

  it("in a later folder replaces an earlier role of the same name", async () => {
    const later = join(folder, "later");
    mkdirSync(later);
    put("scout.md", "name: scout\ndescription: first");
    put("later/scout.md", "name: scout\ndescription: second");
    const { roles } = await readRoles([folder, later]);
    expect(roles.map(({ description }) => description)).toEqual(["second"]);
  });
});

it("a role may name every file tool", () => {
  expect(OWN_TOOLS).toEqual(expect.arrayContaining(Object.keys(FILE_ARGUMENTS)));
});
