import { goalText } from "./lines.ts";
import { table } from "./markdown.ts";
import type { Section } from "./section.ts";

const HEAD = `# Holdfast beside its peers

Written by \`npm run bench\`; do not edit.

## Assumptions
- This measures harnesses, not language models: a script or a seeded simulation plays the model, in the same process, and answers at once.
- All systems run on one copy of \`langchain\` and \`@langchain/langgraph\`, on the same scripts, with the same tools. The peers are pinned in \`bench/package.json\`.
- Each section begins with its own assumptions. A figure that is worse than a peer's stands in the tables like the others, and beside them is why.`;

/** RESULTS.md. */
export function report(
  sections: readonly (Pick<Section, "name" | "goals" | "markdown"> & { measured: string })[],
): string {
  const goals = sections.flatMap((section) =>
    section.goals.map((goal) => [section.name, goal.name, goalText(goal), section.measured]),
  );
  return [
    HEAD,
    "\n## Goals\n",
    table(["section", "goal", "figure", "measured"], goals),
    ...sections.map(({ markdown }) => `\n${markdown.trim()}`),
    "",
  ].join("\n");
}
