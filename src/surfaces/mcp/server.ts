import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { countTodos } from "../../plan/index.ts";
import type { Run } from "../../threads/host/index.ts";
import { planText } from "../../threads/plan/index.ts";
import { stateWord } from "../../threads/thread/index.ts";
import { version } from "../../version.ts";
import { answersIn, questionForms } from "./forms.ts";
import { registerResources } from "./resources.ts";
import type { Sdk } from "./sdk.ts";
import type { Report, Threads } from "./threads.ts";
import { FIELD_TEXTS, REPORT_TEXTS, TOOL_TEXTS } from "./tools.prompt.ts";

/** A thread with its active run, if it has one. */
interface Work {
  thread: string;
  run?: Run;
}

const thread = z.string().min(1).describe(FIELD_TEXTS.thread);
const READS = { readOnlyHint: true, openWorldHint: false };
/** Annotations of tools whose runs may change files and execute commands. */
const WORKS = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
/** Forms that one task may ask the user to fill in. */
const MOST_ROUNDS = 1000;
const DEFAULT_LIMIT = 20;

/** Creates the server of one connection, with tools to run and inspect threads. */
export function mcpServer(sdk: Sdk, threads: Threads): McpServer {
  const server = new sdk.McpServer(
    { name: "holdfast", title: "Holdfast", version: version() },
    { inputRequired: { maxRounds: MOST_ROUNDS } },
  );

  /** Waits for a thread, and reports it. Questions become forms if the client has them. */
  const work = async (
    context: ServerContext,
    start: () => Promise<Work>,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const { requestState, inputResponses } = context.mcpReq;
    const askingThread = requestState<string>();
    const answers = answersIn(inputResponses);
    const isDeclined = askingThread !== undefined && answers === undefined;
    const { thread: id, run } =
      askingThread === undefined
        ? await start()
        : { thread: askingThread, run: answers && (await threads.answer(askingThread, answers)) };
    const report = run ? await threads.follow(run, context) : await threads.report(id);
    const hasForms = Boolean(server.server.getClientCapabilities()?.elicitation);
    if (report.state !== "waiting" || !hasForms || isDeclined) return reportResult(report);
    // The client sends the state back unverified, which is safe: it may name any thread anyway.
    return sdk.inputRequired({
      inputRequests: questionForms(report.questions, (form) => sdk.inputRequired.elicit(form)),
      requestState: report.thread,
    });
  };

  server.registerTool(
    "run_task",
    {
      description: TOOL_TEXTS.run_task,
      inputSchema: z.object({ task: z.string().trim().min(1).describe(FIELD_TEXTS.task) }),
      annotations: WORKS,
    },
    ({ task }, context) => work(context, () => threads.begin(task)),
  );
  server.registerTool(
    "continue_task",
    {
      description: TOOL_TEXTS.continue_task,
      inputSchema: z.object({
        thread,
        message: z.string().trim().min(1).describe(FIELD_TEXTS.message).optional(),
      }),
      annotations: WORKS,
    },
    (args, context) =>
      work(context, async () => ({
        thread: args.thread,
        run: await threads.goOn(args.thread, args.message),
      })),
  );
  server.registerTool(
    "answer",
    {
      description: TOOL_TEXTS.answer,
      inputSchema: z.object({
        thread,
        answer: z.string().trim().min(1).describe(FIELD_TEXTS.answer),
        question: z.string().describe(FIELD_TEXTS.question).optional(),
      }),
      annotations: WORKS,
    },
    (args, context) =>
      work(context, async () => {
        const { id } = await threads.question(args.thread, args.question);
        return { thread: args.thread, run: await threads.answer(args.thread, { [id]: args.answer }) };
      }),
  );
  server.registerTool(
    "show_plan",
    { description: TOOL_TEXTS.show_plan, inputSchema: z.object({ thread }), annotations: READS },
    async (args) => reportResult(await threads.report(args.thread), { hasPlan: true }),
  );
  server.registerTool(
    "edit_plan",
    {
      description: TOOL_TEXTS.edit_plan,
      inputSchema: z.object({ thread, plan: z.string().describe(FIELD_TEXTS.plan) }),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    async (args, { mcpReq }) => {
      await threads.editPlan(args.thread, args.plan, mcpReq.signal);
      return reportResult(await threads.report(args.thread), { hasPlan: true });
    },
  );
  server.registerTool(
    "list_threads",
    {
      description: TOOL_TEXTS.list_threads,
      inputSchema: z.object({
        limit: z.number().int().positive().max(1000).default(DEFAULT_LIMIT).describe(FIELD_TEXTS.limit),
      }),
      annotations: READS,
    },
    async ({ limit }) => {
      const summaries = await threads.list(limit);
      const lines = summaries.map((one) =>
        [one.id, stateWord(one), `${one.todos.done}/${one.todos.total}`, one.title ?? ""].join("\t"),
      );
      return {
        content: [{ type: "text", text: lines.join("\n") || "There are no threads yet." }],
        structuredContent: {
          threads: summaries.map((one) => ({
            id: one.id,
            state: stateWord(one),
            todos: one.todos,
            title: one.title ?? "",
            updatedAt: one.updatedAt.toISOString(),
          })),
        },
      };
    },
  );
  server.registerTool(
    "cancel",
    {
      description: TOOL_TEXTS.cancel,
      inputSchema: z.object({ thread }),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    async (args) => {
      await threads.cancel(args.thread);
      return reportResult(await threads.report(args.thread));
    },
  );
  registerResources(sdk, server, threads);
  return server;
}

/** A report as text and as data. */
function reportResult(report: Report, { hasPlan = false } = {}): CallToolResult {
  const { thread: name, state, todos, rules, answer, questions, files, error } = report;
  const { completed, cancelled, total } = countTodos([...todos]);
  const progress = total > 0 ? `, ${completed + cancelled} of ${total} items closed` : "";
  const questionTexts = questions.map(({ id, text, todos: plan, rules: terms }) =>
    [`It asks (question ${id}): ${text}`, ...(plan ? [planText(plan, terms)] : [])].join("\n"),
  );
  const isOpen = state !== "done" && state !== "failed";
  const parts = [
    `Thread ${name}: ${state}${progress}.`,
    ...(hasPlan && total > 0 ? [planText(todos, rules)] : []),
    ...(error === undefined ? [] : [error]),
    ...(answer === "" || state === "running" ? [] : [answer]),
    ...(files.length > 0 ? [`Files in the thread: ${files.join(", ")}`] : []),
    ...questionTexts,
    ...(isOpen ? [REPORT_TEXTS[state]] : []),
  ];
  return {
    content: [{ type: "text", text: parts.join("\n\n") }],
    structuredContent: {
      thread: name,
      state,
      answer,
      files,
      plan: todos.map(({ id, content, status }) => ({ id, content, status })),
      rules: rules.length > 0 ? [...rules] : undefined,
      questions: questions.map(({ id, kind, text, options }) => ({ id, kind, text, options: [...options] })),
      error,
    },
    isError: state === "failed" || undefined,
  };
}
