import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The task of `holdfast demo`. In the scratch project the demo model does it for any request. */
export const DEMO_TASK = "Mend the failing test, and add this month's discount";

/** The beginning of a scratch folder's name. */
export const SCRATCH_PREFIX = "holdfast-demo-";

/** The line by which the demo model recognizes its scratch project. */
export const SCRATCH_MARK = "The scratch project of `holdfast demo`";

/** The line with the error, and the correct line. */
export const [BROKEN_LINE, MENDED_LINE] = [
  "  return lines.map(({ cents, count }) => cents * count).reduce((sum, cents) => sum + cents);",
  "  return lines.map(({ cents, count }) => cents * count).reduce((sum, cents) => sum + cents, 0);",
];

/** Creates the scratch project in a new temporary folder. Returns the folder's real path. */
export async function makeScratchProject(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), SCRATCH_PREFIX)));
  for (const [path, text] of Object.entries(SCRATCH_FILES)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return folder;
}

/** The files of the scratch project by path. */
const SCRATCH_FILES: Readonly<Record<string, string>> = {
  "README.md": `# Till

${SCRATCH_MARK}: a till of a small shop, with an error in it. Delete the folder when you like.

\`node --test\` runs the tests. The MCP server \`till\` (till.mjs) knows this month's discount; without it the discount is 5 percent.
`,
  "package.json": `{ "name": "till", "private": true, "type": "module", "scripts": { "test": "node --test" } }
`,
  "src/total.js": `/** The total of an order, in cents. */
export function total(lines) {
${BROKEN_LINE}
}
`,
  "test/total.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/total.js";

test("till: an order costs what its lines cost", () => {
  assert.equal(total([{ cents: 250, count: 2 }, { cents: 95, count: 1 }]), 595);
});

test("till: an empty order costs nothing", () => {
  assert.equal(total([]), 0);
});
`,
  ".agents/skills/till-tests/SKILL.md": `---
name: till-tests
description: Rules for tests of the till. Read it before you write one.
---

Each rule of the till has a test of its own. Its name is a sentence that begins with \`till: \`.
`,
  ".mcp.json": `{ "mcpServers": { "till": { "command": "node", "args": ["till.mjs"] } } }
`,
  "till.mjs": `// A server of the Model Context Protocol with one tool: messages are lines of JSON, and no library is needed.
import { createInterface } from "node:readline";

const discount = {
  name: "discount",
  description: "This month's discount.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true },
};
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "till", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [discount] }),
  "tools/call": () => ({ content: [{ type: "text", text: "This month's discount is 10 percent." }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: \`There is no \${method}.\` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
`,
};
