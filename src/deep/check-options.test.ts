import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { HarnessError } from "../errors.ts";
import { filesMiddleware } from "../middleware/files/index.ts";
import { planMiddleware } from "../middleware/plan/index.ts";
import { sandboxMiddleware } from "../middleware/sandbox/index.ts";
import { subagentsMiddleware } from "../subagents/index.ts";
import { ScriptedModel } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const runnable = { invoke: () => Promise.resolve({ messages: [new AIMessage("done")] }) };
const build = createDeepAgent as (options: unknown) => unknown;
type Case = [options: unknown, message: string];

const GLOB = 'must be a glob from the root such as "/src/**", or a list of them';
const BACKEND = 'backend: must be a file backend, such as diskBackend("."), or a function that makes one';

/** Mistakes that have to do with files. */
const FILES: Case[] = [
  [{ permissions: { effect: "deny", paths: "/**" } }, "permissions: Invalid input: expected array"],
  [{ permissions: [{ effect: "deny", paths: [] }] }, `permissions.0.paths: ${GLOB}`],
  [{ permissions: [{ effect: "deny", paths: "" }] }, `permissions.0.paths: ${GLOB}`],
  [
    { permissions: [{ effect: "deny", path: "/**" }] },
    'there is no option "permissions.0.path" (there are effect, operations, paths, exact)',
  ],
  [{ permissions: [{ effect: "deny", path: "/**" }] }, `permissions.0.paths: ${GLOB}`],
  [
    { permissions: [{ effect: "deny", operations: "write", paths: "/**" }] },
    "permissions.0.operations: Invalid input: expected array",
  ],
  [
    { permissions: [{ effect: "deny", operations: [], paths: "/**" }] },
    "permissions.0.operations: must name at least one operation",
  ],
  [
    { permissions: [{ effect: "deny", operations: ["wirte"], paths: "/**" }] },
    'permissions.0.operations.0: Invalid option: expected one of "read"|"write"|"delete"|"execute"',
  ],
  [
    { permissions: [{ mode: "deny", paths: "/**" }] },
    'permissions.0.effect: Invalid option: expected one of "allow"|"deny"',
  ],
  [{ backend: "/tmp" }, BACKEND],
  [{ backend: { read: () => undefined } }, BACKEND],
  [{ resultLimit: true }, "resultLimit: Invalid input: expected number"],
  [{ resultLimit: 0 }, "resultLimit: must be at least 1"],
  [{ canExecute: "yes" }, "canExecute: Invalid input: expected boolean"],
];

/** Mistakes that have to do with sub-agents. */
const SUBAGENTS: Case[] = [
  [{ subagents: {} }, "subagents: Invalid input: expected array"],
  [{ subagents: [undefined] }, "subagents.0: must be an object that describes a sub-agent"],
  [{ subagents: [{ description: "d", runnable }] }, "subagents.0.name: Invalid input: expected string"],
  [{ subagents: [{ name: "a", runnable }] }, "subagents.0.description: Invalid input: expected string"],
  [
    { subagents: [{ name: "a", description: "d", runnable: {} }] },
    "subagents.0.runnable: must be an agent, a graph or another runnable with `invoke`",
  ],
  [
    { subagents: [{ name: "a", description: "d", runnable, ownFiles: true }] },
    'there is no option "subagents.0.ownFiles" (there are name, description, timeLimit, budget, fork, runnable, model, ownsFiles, stateFields)',
  ],
  [{ subagents: [], maxConcurrency: 0 }, "maxConcurrency: must be at least 1"],
  [{ subagents: [], maxConcurrency: "4" }, "maxConcurrency: Invalid input: expected number"],
  [{ subagents: [], maxConcurrency: 1.5 }, "maxConcurrency: Invalid input: expected int"],
];

const DEEP: Case[] = [
  [null, "the options: Invalid input: expected object"],
  [{ subAgents: [], sytemPrompt: "x" }, 'there is no option "subAgents", "sytemPrompt" (there are model, '],
  [{ subagents: [{ description: "d" }] }, "subagents.0.name: Invalid input: expected string"],
  [
    { subagents: [{ name: "a", description: "d", sytemPrompt: "x" }] },
    'there is no option "subagents.0.sytemPrompt" (there are name, ',
  ],
  [
    { subagents: [{ name: "a", description: "d", plan: { maxItem: 3 } }] },
    'there is no option "subagents.0.plan.maxItem" (there are preset, ',
  ],
  [{ model: 5 }, 'model: must be a chat model or "provider:name"'],
  [{ tools: [undefined] }, "tools.0: must be a tool"],
  [{ systemPrompt: 5 }, "systemPrompt: must be a text or a SystemMessage"],
  [{ plan: true }, "plan: Invalid input: expected object"],
  [{ plan: { maxItems: 0 } }, "plan.maxItems: must be at least 1"],
  [{ plan: { preset: "classic", reports: "inline" } }, 'plan.reports: must be "call" where the preset'],
  [{ maxDepth: -1 }, "maxDepth: must be at least 0"],
  [{ middleware: planMiddleware() }, "middleware: Invalid input: expected array"],
  [{ middleware: [planMiddleware] }, "middleware.0: must be a middleware, such as planMiddleware()"],
  [{ without: "PlanMiddleware" }, "without: Invalid input: expected array"],
  [{ summarization: true }, "summarization: Invalid input: expected object"],
  [
    { summarization: { triger: {} } },
    'there is no option "summarization.triger" (there are model, trigger, ',
  ],
  [{ interruptOn: ["write_file"] }, "interruptOn: Invalid input: expected record"],
  [{ checkpointer: "sqlite" }, "checkpointer: must be a checkpointer or a boolean"],
];

function refusal(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    const known = HarnessError.from(error);
    return known?.code === "invalid-options" ? known.message : `not ours: ${String(error)}`;
  }
  return "nothing was refused";
}

describe("options that cannot work are refused when the agent is built", () => {
  const model = new ScriptedModel([]);

  it("by createDeepAgent, which says which and why", () => {
    for (const [given, message] of [...DEEP, ...FILES, ...SUBAGENTS]) {
      const reason = refusal(() => build(given && { model, ...given }));
      expect(reason).toMatch(/^createDeepAgent: /);
      expect(reason).toContain(message);
    }
  });

  it("by filesMiddleware and subagentsMiddleware where they are used alone", () => {
    for (const [given, message] of FILES) {
      const reason = refusal(() => filesMiddleware(given as never));
      expect(reason).toMatch(/^filesMiddleware: /);
      expect(reason).toContain(message);
    }
    for (const [given, message] of SUBAGENTS) {
      const reason = refusal(() => subagentsMiddleware(given as never));
      expect(reason).toMatch(/^subagentsMiddleware: /);
      expect(reason).toContain(message);
    }
  });

  it("all at once", () => {
    const reason = refusal(() => build({ model, maxDepth: -1, backend: "/tmp" }));
    expect(reason).toBe(`createDeepAgent: ${BACKEND}; maxDepth: must be at least 0.`);
  });

  it("refuses a broken file rule in the agent, the file tools and the sandbox", () => {
    const broken = { effect: "deny", paths: "/../secret" } as const;
    for (const make of [
      () => build({ model, permissions: [broken] }),
      () => filesMiddleware({ permissions: [broken] }),
      () => sandboxMiddleware({ permissions: [broken] }),
    ]) {
      expect(refusal(make)).toContain("Permission rule 1 cannot be used");
    }
    expect(refusal(() => sandboxMiddleware({ permissions: broken as never }))).toContain(
      "permissions: Invalid input: expected array",
    );
  });
});

it("createDeepAgent accepts undefined options and every known option", () => {
  const subagents = [
    { name: "a", description: "d", runnable, ownsFiles: true },
    { name: "b", description: "d", prompt: "x", plan: false, tools: [], modelSettings: {}, middleware: [] },
  ];
  const options = {
    model: new ScriptedModel([]),
    subagents,
    maxConcurrency: Number.POSITIVE_INFINITY,
    maxDepth: 0,
    plan: {},
    permissions: [{ effect: "allow", operations: ["execute"], paths: ["/", "/a"] }],
    resultLimit: false,
    resultFolder: "/results",
    summarization: { trigger: [{ tokens: 5 }, { fraction: 0.5 }], keep: { messages: 3 }, folder: "/h" },
    interruptOn: { write_file: true, edit_file: { allowedDecisions: ["approve"] }, ls: false },
    checkpointer: false,
    name: "deep",
  };
  expect(() => build(options)).not.toThrow();
  const nothing = Object.fromEntries(Object.keys(options).map((key) => [key, undefined]));
  expect(() => build(nothing)).not.toThrow();
  expect(() => build({})).not.toThrow();
});
