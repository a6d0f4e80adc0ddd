import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { explainModelError, isPlanChangeEvent, isSubagentEvent, type SubagentEvent } from "holdfast";
import { createResearchAgent, researchModel } from "./agent.ts";
import { servePages } from "./pages.ts";
import { PlanLog } from "./plan-log.ts";
import { searchNotice } from "./search.ts";

const REPORT = "/final_report.md";
const CRITIQUE = "/critique.md";

export interface ResearchJob {
  question: string;
  /** The folder for the report. */
  out: string;
  signal: AbortSignal;
}

/** Runs the agent, prints what happens, and returns the path of the report. Throws errors with one readable line. */
export async function research({ question, out, signal }: ResearchJob): Promise<string> {
  const { notice, ...chosen } = await researchModel(process.env);
  for (const line of [notice, searchNotice(process.env)]) if (line) console.log(line);
  await mkdir(out, { recursive: true });

  const pages = await servePages();
  const agent = createResearchAgent({ model: chosen.model, pages: pages.origin });
  const plan = new PlanLog();
  let files: Record<string, string> = {};
  try {
    const stream = await agent.stream(
      { messages: [{ role: "user", content: question }] },
      { streamMode: ["custom", "values"], signal },
    );
    for await (const [mode, chunk] of stream) {
      if (mode === "values") {
        const { [CRITIQUE]: points } = chunk.files;
        if (points && points !== files[CRITIQUE]) console.log(`\nCritique:\n${points.trim()}\n`);
        files = chunk.files;
      } else if (isPlanChangeEvent(chunk) && chunk.owner === "main") {
        console.log(plan.show(chunk));
      } else if (isSubagentEvent(chunk)) {
        console.log(describe(chunk));
      }
    }
  } catch (error) {
    throw new Error(explainModelError(error, chosen), { cause: error });
  } finally {
    pages.close();
  }
  console.log(`\n${plan.all()}`);
  if (files[REPORT] === undefined) throw new Error(`${chosen.name} ended without writing ${REPORT}.`);
  const path = resolve(join(out, "final_report.md"));
  await writeFile(path, files[REPORT]);
  return path;
}

function describe({ type, name, todoId, description, ok, error }: SubagentEvent): string {
  const who = `${name} for ${todoId === undefined ? `“${description.split("\n")[0]}”` : `#${todoId}`}`;
  if (type === "subagent-start") return `  ${who} starts`;
  return ok ? `  ${who} is done` : `  ${who} failed: ${error}`;
}
