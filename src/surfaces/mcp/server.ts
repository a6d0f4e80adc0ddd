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
import { questionForms, wordsIn } from "./forms.ts";
import { registerResources } from "./resources.ts";
import type { Sdk } from "./sdk.ts";
import type { Report, Threads } from "./threads.ts";
import { FIELD_TEXTS, REPORT_TEXTS, TOOL_TEXTS } from "./tools.prompt.ts";

/** A thread to work with, and the run that it is at, if it is at one. */
interface Begun {
  thread: string;
  run?: Run | undefined;
}

const thread = z.string().min(1).describe(FIELD_TEXTS.thread);
const READS = { readOnlyHint: true, openWorldHint: false };
/** Annotations of the tool that works: it may change files and run commands. */
const WORKS = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
/** A person may be asked often in one task. */
const MOST_ROUNDS = 1000;
const USUAL_LIMIT = 20;

/** A server whose tools are threads; one for each connection. */
export function mcpServer(sdk: Sdk, threads: Threads): McpServer {
  const server = new sdk.McpServer(
    { name: "holdfast", title: "Holdfast", version: version() },
    { inputRequired: { maxRounds: MOST_ROUNDS } },
  );

  /** Works on a thread until it has come to something. A person is asked by a form, where the caller has forms. */
  const work = async (
    context: ServerContext,
    start: () => Promise<Begun>,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const { requestState, inputResponses } = context.mcpReq;
    const asked = requestState<string>();
    const words = wordsIn(inputResponses);
    const isDeclined = asked !== undefined && words === undefined;
    const begun =
      asked === undefined
        ? await start()
        : { thread: asked, run: words && (await threads.answer(asked, words)) };
    const report = begun.run ? await threads.follow(begun.run, context) : await threads.report(begun.thread);
    const hasForms = Boolean(server.server.getClientCapabilities()?.elicitation);
    if (report.state !== "waiting" || !hasForms || isDeclined) return reportResult(report);
    // The thread comes back with the answers; a caller may name any thread anyway.
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
    (given, context) =>
      work(context, async () => ({
        thread: given.thread,
        run: await threads.goOn(given.thread, given.message),
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
    (given, context) =>
      work(context, async () => {
        const { id } = await threads.question(given.thread, given.question);
        return { thread: given.thread, run: await threads.answer(given.thread, { [id]: given.answer }) };
      }),
  );
  server.registerTool(
    "show_plan",
    { description: TOOL_TEXTS.show_plan, inputSchema: z.object({ thread }), annotations: READS },
    async (given) => reportResult(await threads.report(given.thread), { hasPlan: true }),
  );
  server.registerTool(
    "edit_plan",
    {
      description: TOOL_TEXTS.edit_plan,
      inputSchema: z.object({ thread, plan: z.string().describe(FIELD_TEXTS.plan) }),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    async (given, { mcpReq }) => {
      await threads.editPlan(given.thread, given.plan, mcpReq.signal);
      return reportResult(await threads.report(given.thread), { hasPlan: true });
    },
  );
  server.registerTool(
    "list_threads",
    {
      description: TOOL_TEXTS.list_threads,
      inputSchema: z.object({
        limit: z.number().int().positive().max(1000).default(USUAL_LIMIT).describe(FIELD_TEXTS.limit),
      }),
      annotations: READS,
    },
    async ({ limit }) => {
      const found = await threads.list(limit);
      const lines = found.map((one) =>
        [one.id, stateWord(one), `${one.todos.done}/${one.todos.total}`, one.title ?? ""].join("\t"),
      );
      return {
        content: [{ type: "text", text: lines.join("\n") || "There are no threads yet." }],
        structuredContent: {
          threads: found.map((one) => ({
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
    async (given) => {
      await threads.cancel(given.thread);
      return reportResult(await threads.report(given.thread));
    },
  );
  registerResources(sdk, server, threads);
  return server;
}

/** A thread's result as words and data. */
function reportResult(report: Report, { hasPlan = false } = {}): CallToolResult {
  const { thread: name, state, todos, rules, answer, questions, files, error } = report;
  const { completed, cancelled, total } = countTodos([...todos]);
  const progress = total > 0 ? `, ${completed + cancelled} of ${total} items closed` : "";
  const asked = questions.map(({ id, text, todos: plan, rules: terms }) =>
    [`It asks (question ${id}): ${text}`, ...(plan ? [planText(plan, terms)] : [])].join("\n"),
  );
  const isOpen = state !== "done" && state !== "failed";
  const parts = [
    `Thread ${name}: ${state}${progress}.`,
    ...(hasPlan && total > 0 ? [planText(todos, rules)] : []),
    ...(error === undefined ? [] : [error]),
    ...(answer === "" || state === "running" ? [] : [answer]),
    ...(files.length > 0 ? [`Files in the thread: ${files.join(", ")}`] : []),
    ...asked,
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
      ...(rules.length > 0 && { rules: [...rules] }),
      questions: questions.map(({ id, kind, text, options }) => ({ id, kind, text, options: [...options] })),
      ...(error !== undefined && { error }),
    },
    ...(state === "failed" && { isError: true }),
  };
}
