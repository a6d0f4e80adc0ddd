import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { planMiddleware, type PlanOptions } from "../src/middleware/index.ts";
import { ScriptedModel, type ScriptedCall, type Step } from "../src/testing/scripted-model.ts";

const PRESETS = ["lean", "classic", "deerflow", "checklist"] as const;

const SCRIPT = `[{ "name": "write_todos", "args": { "todos": ["Read the spec", "Write the parser", "Run the tests"] } }]
[{ "name": "work", "args": { "on": "spec" } }]
[{ "name": "update_todos", "args": { "done": "1" } }, { "name": "work", "args": { "on": "parser" } }]
All done!
[{ "name": "update_todos", "args": { "done": "2" } }, { "name": "work", "args": { "on": "tests" } }]
The parser is written and its tests pass.`;

/** One character in four is what o200k takes for English, near enough to compare. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** Puts the playground into an element. */
export function mount(place: HTMLElement): void {
  place.innerHTML = `
    <form>
      <p><label>Preset <select name="preset">${PRESETS.map((name) => `<option>${name}</option>`).join("")}</select></label></p>
      <p><label>Turns of the model, one a line<br><textarea name="script" rows="9" spellcheck="false"></textarea></label></p>
      <p><button type="submit">Run</button></p>
    </form>
    <div class="result" aria-live="polite"></div>
    <style>
      #plan-playground textarea { width: 100%; font-family: var(--vp-font-family-mono); font-size: 13px; border: 1px solid var(--vp-c-divider); border-radius: 6px; padding: 8px; }
      #plan-playground select, #plan-playground button { border: 1px solid var(--vp-c-divider); border-radius: 6px; padding: 4px 12px; }
      #plan-playground button { background: #1a4fa3; color: white; }
      #plan-playground h2 { font-size: 16px; margin: 16px 0 4px; padding: 0; border: 0; }
      #plan-playground pre { white-space: pre-wrap; font-size: 13px; background: var(--vp-c-bg-soft); border-radius: 6px; padding: 8px 12px; }
    </style>`;
  const form = place.querySelector("form")!;
  const script = form.elements.namedItem("script") as HTMLTextAreaElement;
  const preset = form.elements.namedItem("preset") as HTMLSelectElement;
  const result = place.querySelector<HTMLElement>(".result")!;
  script.value = SCRIPT;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void show(result, script.value, preset.value as (typeof PRESETS)[number]);
  });
  form.requestSubmit();
}

async function show(result: HTMLElement, script: string, preset: PlanOptions["preset"]): Promise<void> {
  result.replaceChildren();
  try {
    const { todos, turns } = await play(script, preset);
    part(
      result,
      "The plan",
      todos.map(({ id, status, content }) => `${id} [${status}] ${content}`).join("\n"),
    );
    for (const [at, { told, tokens }] of turns.entries())
      part(result, `Request ${at + 1}: about ${tokens} tokens`, told);
  } catch (error) {
    part(result, "The script cannot be played", error instanceof Error ? error.message : String(error));
  }
}

function part(result: HTMLElement, heading: string, text: string): void {
  const [title, body] = [document.createElement("h2"), document.createElement("pre")];
  title.textContent = heading;
  body.textContent = text;
  result.append(title, body);
}

/** Plays the script; gives the plan, and what is new to the model in each request. */
async function play(script: string, preset: PlanOptions["preset"]) {
  const steps = script.split("\n").filter((line) => line.trim() !== "");
  const model = new ScriptedModel(steps.map(stepOf));
  const work = tool(({ on }) => `Worked on ${on}.`, {
    name: "work",
    description: "Works on something.",
    schema: z.object({ on: z.string() }),
  });
  const agent = createAgent({
    model,
    tools: [work],
    middleware: [planMiddleware({ ...(preset && { preset }) })],
  });
  const { todos } = await agent.invoke({ messages: [new HumanMessage("Write a parser for the spec.")] });
  let seen = 0;
  const turns = model.requests.map(({ messages, tools: definitions }) => {
    const told = messages.slice(seen).map(lineOf).join("\n");
    seen = messages.length;
    return { told, tokens: tokensOf(JSON.stringify([messages.map(lineOf), definitions])) };
  });
  return { todos, turns };
}

function stepOf(line: string): Step {
  return line.trimStart().startsWith("[") ? (JSON.parse(line) as ScriptedCall[]) : line;
}

function lineOf(message: BaseMessage): string {
  const { tool_calls: calls = [] } = message as { tool_calls?: ScriptedCall[] };
  const named = calls.map(({ name, args }) => `${name}(${JSON.stringify(args)})`);
  return [`${message.getType()}:`, message.text, ...named].filter(Boolean).join(" ");
}
