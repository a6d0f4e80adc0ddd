import { ToolMessage } from "@langchain/core/messages";
import { Command, ReducedValue, StateSchema } from "@langchain/langgraph";
import type { Client } from "@langchain/langgraph-sdk";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { anyUpdate } from "../middleware/state/index.ts";
import { callId, checkedTool } from "../middleware/tools/index.ts";
import { REMOTE_TOOLS } from "./deepagents.prompt.ts";

/** A sub-agent on a server of LangGraph's protocol. It works in the background. */
export interface AsyncSubAgent {
  name: string;
  /** When to use it, for the model. */
  description: string;
  /** The name of a graph, or the id of an assistant, on the server. */
  graphId: string;
  /** Default: the SDK's. */
  url?: string;
  headers?: Record<string, string>;
}

/** The status of a remote task. */
export type AsyncTaskStatus =
  | "pending"
  | "running"
  | "success"
  | "error"
  | "cancelled"
  | "timeout"
  | "interrupted";

/** A task of such a sub-agent, in the field `asyncTasks` of the state. */
export interface AsyncTask {
  /** The same as `threadId`. */
  taskId: string;
  agentName: string;
  threadId: string;
  runId: string;
  status: AsyncTaskStatus;
  createdAt: string;
  description?: string;
  updatedAt?: string;
  checkedAt?: string;
}

type Tasks = Record<string, AsyncTask>;

const ENDED: readonly AsyncTaskStatus[] = ["success", "error", "cancelled", "timeout"];

/** Whether a sub-agent is remote. */
export function isAsyncSubAgent(spec: object): spec is AsyncSubAgent {
  return "graphId" in spec;
}

/**
 * Tools that start, check, update, cancel and list tasks of remote sub-agents. Tasks are in the state, so they survive
 * summaries and restarts. Throws `invalid-options` for no sub-agents, or two with the same name.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { createAsyncSubAgentMiddleware } from "holdfast/deepagents";
 *
 * const url = "http://127.0.0.1:2024";
 * const tester = { name: "tester", description: "Runs long tests.", graphId: "agent", url };
 * const middleware = [createAsyncSubAgentMiddleware({ asyncSubAgents: [tester] })];
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createAsyncSubAgentMiddleware({ asyncSubAgents }: { asyncSubAgents: AsyncSubAgent[] }) {
  const agents = new Map(asyncSubAgents.map((agent) => [agent.name, agent]));
  if (agents.size === 0 || agents.size < asyncSubAgents.length) {
    const reason = agents.size === 0 ? "there is none" : "two have one name";
    throw new HarnessError("invalid-options", `Remote sub-agents: ${reason}.`);
  }
  const clients = new Map<string, Promise<Client>>();
  const clientOf = (name: string): Promise<Client> => {
    const { url, headers } = agents.get(name)!;
    const client = clients.get(name) ?? connect(url, headers);
    clients.set(name, client);
    return client;
  };
  const now = (): string => new Date().toISOString();
  const startRun = async (
    { agentName, threadId }: Pick<AsyncTask, "agentName" | "threadId">,
    content: string,
  ): Promise<Pick<AsyncTask, "runId" | "status">> => {
    const client = await clientOf(agentName);
    const run = await client.runs.create(threadId, agents.get(agentName)!.graphId, {
      input: { messages: [{ role: "user", content }] },
      multitaskStrategy: "interrupt",
    });
    return { runId: run.run_id, status: "running" };
  };
  const statusOf = async (task: AsyncTask): Promise<AsyncTask> => {
    if (ENDED.includes(task.status)) return task;
    const run = await (await clientOf(task.agentName)).runs.get(task.threadId, task.runId);
    const status = run.status as AsyncTaskStatus;
    return { ...task, status, ...(status !== task.status && { updatedAt: now() }), checkedAt: now() };
  };
  return createMiddleware({
    name: "asyncSubAgentMiddleware",
    stateSchema: new StateSchema({
      asyncTasks: new ReducedValue(z.record(z.string(), z.custom<AsyncTask>()).default({}), {
        inputSchema: anyUpdate<Tasks>(),
        reducer: (current, next) => ({ ...current, ...next }),
      }),
    }),
    tools: [
      tool(
        "start_async_task",
        z.object({ description: z.string(), agentName: z.enum([...agents.keys()]) }),
        async ({ description, agentName }) => {
          const { thread_id: threadId } = await (await clientOf(agentName)).threads.create();
          const run = await startRun({ agentName, threadId }, description);
          const task = { taskId: threadId, agentName, threadId, ...run, createdAt: now(), description };
          return [{ [threadId]: task }, { taskId: threadId, status: run.status }];
        },
        asyncSubAgents,
      ),
      tool(
        "check_async_task",
        TASK,
        onTask(async (task) => {
          const current = await statusOf(task);
          if (current.status !== "success") return [current];
          const state = await (await clientOf(task.agentName)).threads.getState(task.threadId);
          return [current, { result: lastText(state.values) }];
        }),
      ),
      tool(
        "update_async_task",
        TASK.extend({ message: z.string() }),
        onTask(async (task, { message }) => [
          { ...task, ...(await startRun(task, message)), updatedAt: now() },
        ]),
      ),
      tool(
        "cancel_async_task",
        TASK,
        onTask(async (task) => {
          await (await clientOf(task.agentName)).runs.cancel(task.threadId, task.runId);
          return [{ ...task, status: "cancelled", updatedAt: now() }];
        }),
      ),
      tool(
        "list_async_tasks",
        z.object({ statusFilter: z.string().nullish() }),
        async ({ statusFilter }, tasks) => {
          const all = await Promise.all(Object.values(tasks).map(statusOf));
          const matches = all.filter(({ status }) => [status, "all"].includes(statusFilter ?? "all"));
          const answer = matches.map(({ taskId, agentName, status }) => ({ taskId, agentName, status }));
          return [Object.fromEntries(all.map((task) => [task.taskId, task])), answer];
        },
      ),
    ],
  });
}

const TASK = z.object({ taskId: z.string() });

/** A tool that changes tasks and answers with JSON. Errors of a server go to the model. */
function tool<Schema extends z.ZodObject>(
  name: keyof typeof REMOTE_TOOLS,
  schema: Schema,
  act: (args: z.output<Schema>, tasks: Tasks) => Promise<[Tasks, object]>,
  agents: readonly AsyncSubAgent[] = [],
) {
  const lines = agents.map((agent) => `- ${agent.name}: ${agent.description}`);
  const definition = { name, description: [REMOTE_TOOLS[name], ...lines].join("\n"), schema };
  return checkedTool(definition, async (args, runtime) => {
    const { asyncTasks = {} } = (runtime.state ?? {}) as { asyncTasks?: Tasks };
    const fields = { tool_call_id: callId(runtime), name };
    try {
      const [changes, answer] = await act(args, asyncTasks);
      const message = new ToolMessage({ ...fields, content: JSON.stringify(answer) });
      return new Command({ update: { asyncTasks: changes, messages: [message] } });
    } catch (error) {
      if (error instanceof HarnessError) throw error;
      return new ToolMessage({ ...fields, content: `Error: ${(error as Error).message}`, status: "error" });
    }
  });
}

function onTask<Args extends { taskId: string }>(
  act: (task: AsyncTask, args: Args) => Promise<[AsyncTask, object?]>,
) {
  return async (args: Args, tasks: Tasks): Promise<[Tasks, object]> => {
    const task = tasks[args.taskId.trim()];
    const all = Object.keys(tasks).join(", ") || "none";
    if (!task) throw new Error(`There is no task "${args.taskId}"; there are: ${all}.`);
    const [next, details] = await act(task, args);
    const { taskId, status } = next;
    return [{ [taskId]: next }, { taskId, status, ...details }];
  };
}

async function connect(apiUrl?: string, defaultHeaders?: Record<string, string>): Promise<Client> {
  const sdk = await import("@langchain/langgraph-sdk").catch((cause: unknown) => {
    const message =
      "Remote sub-agents need the package @langchain/langgraph-sdk. Install it with: npm install @langchain/langgraph-sdk@1.12.0";
    throw new HarnessError("missing-package", message, { cause });
  });
  return new sdk.Client({ apiUrl: apiUrl || undefined, defaultHeaders });
}

function lastText(values: unknown): string {
  const { messages = [] } = (values ?? {}) as { messages?: { content: unknown }[] };
  const content = messages.at(-1)?.content ?? "";
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("");
}
