import type { RunnableConfig } from "@langchain/core/runnables";
import type { Interrupt, StateSnapshot } from "@langchain/langgraph";
import { isRecord } from "../../../../plan/read/index.ts";

/** An interrupt in both spellings: JavaScript's middleware writes `actionRequests`, the public pages read `action_requests`. */
export function interruptOut(interrupt: Interrupt): Interrupt {
  return { ...interrupt, value: bothSpellings(interrupt.value) };
}

function bothSpellings(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const actions = value["actionRequests"] ?? value["action_requests"];
  const configs = value["reviewConfigs"] ?? value["review_configs"];
  if (!Array.isArray(actions) && !Array.isArray(configs)) return value;
  const reviews = Array.isArray(configs)
    ? configs.map((config) => bothNames(config as Record<string, unknown>))
    : configs;
  return {
    ...value,
    ...(actions !== undefined && { actionRequests: actions, action_requests: actions }),
    ...(reviews !== undefined && { reviewConfigs: reviews, review_configs: reviews }),
  };
}

const REVIEW_NAMES = [
  ["actionName", "action_name"],
  ["allowedDecisions", "allowed_decisions"],
  ["argsSchema", "args_schema"],
] as const;

function bothNames(config: Record<string, unknown>): Record<string, unknown> {
  const entries = REVIEW_NAMES.flatMap(([camel, snake]) => {
    const value = config[camel] ?? config[snake];
    return value === undefined ? [] : [[camel, value] as const, [snake, value] as const];
  });
  return { ...config, ...Object.fromEntries(entries) };
}

/** A state in LangGraph's format. */
export function stateOut(state: StateSnapshot): object {
  const { values, next, tasks, metadata, createdAt, config, parentConfig } = state;
  return {
    values: Array.isArray(values) ? {} : ((values as object | undefined) ?? {}),
    next,
    tasks: tasks.map((task) => ({
      id: task.id,
      name: task.name,
      path: task.path ?? [],
      error: errorOut(task.error),
      interrupts: task.interrupts.map(interruptOut),
      checkpoint: checkpointOf(task.state as RunnableConfig | undefined),
      state: task.state && "values" in task.state ? stateOut(task.state) : null,
      result: (task as { result?: unknown }).result ?? null,
    })),
    metadata: metadata ?? {},
    created_at: createdAt ?? null,
    checkpoint: checkpointOf(config),
    parent_checkpoint: checkpointOf(parentConfig),
    interrupts: tasks.flatMap(({ interrupts }) => interrupts).map(interruptOut),
  };
}

/** The checkpoint that a config names; null if it names none. */
export function checkpointOf(config: RunnableConfig | undefined): object | null {
  const { thread_id, checkpoint_id, checkpoint_ns = "", checkpoint_map = null } = config?.configurable ?? {};
  if (thread_id === undefined) return null;
  return checkpoint_id === undefined && checkpoint_ns === ""
    ? null
    : { thread_id, checkpoint_id: checkpoint_id ?? null, checkpoint_ns, checkpoint_map };
}

function errorOut(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  const { message } = error as { message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(error);
}
