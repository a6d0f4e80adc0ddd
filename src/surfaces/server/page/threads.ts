import type { MessageContent } from "@langchain/core/messages";
import { Hono } from "hono";
import { z } from "zod";
import { parseDecision } from "../../../decision.ts";
import { imageBlock, Sight } from "../../../middleware/files/index.ts";
import { type Todo } from "../../../plan/index.ts";
import { isRecord } from "../../../plan/read/index.ts";
import type { StartThreadOptions } from "../../../threads/host/index.ts";
import { PlanConflict } from "../../../threads/plan/index.ts";
import { RUN_TOOLS, DEFAULT_MODES, type RunSettings } from "../../../threads/prepare/index.ts";
import { isAsking, newThreadId, settingsOfThread } from "../../../threads/thread/index.ts";
import { undoneWords } from "../../../threads/undo/index.ts";
import { APPROVALS, EFFORTS, MODES, type Mode, PRESET_NAMES } from "../../../vocabulary.ts";
import {
  body,
  validate,
  json,
  mapInTurns,
  refuse,
  type ServerContext,
  type ServerEnv,
  queryPagination,
  signAnswers,
} from "../http/index.ts";
import { offersOf, withoutRules } from "./offers.ts";
import type { OwnThreads, PageParts } from "./parts.ts";
import { historyOf, openThread } from "./thread-content.ts";
import { threadOut } from "./thread-out.ts";

const task = z.string().trim().min(1, "There is no task.");
const SETTINGS = z.strictObject({
  model: z.string().min(1).optional(),
  effort: z.enum(EFFORTS).optional(),
  mode: z.enum(MODES).optional(),
  plan: z.boolean().optional(),
  preset: z.enum(PRESET_NAMES).optional(),
  approve: z.enum(APPROVALS).optional(),
  ask: z.array(z.enum(RUN_TOOLS as [string, ...string[]])).optional(),
  shell: z.boolean().optional(),
});
const IMAGES = z
  .array(
    z.object({
      type: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
      data: z.base64(),
    }),
  )
  .max(8);
const NEW = z.object({
  task,
  images: IMAGES.optional(),
  graph: z.string().optional(),
  settings: SETTINGS.optional(),
});
const NEXT = z.object({ task, images: IMAGES.optional(), compact: z.boolean().optional() });
const CHANGE = SETTINGS.pick({ model: true, effort: true, mode: true });
const ANSWERS = z.object({ answers: z.record(z.string(), z.unknown()) });
const PLAN = z.object({
  todos: z.array(z.unknown()),
  base: z.array(z.unknown()),
  rules: z.array(z.string()).optional(),
});
const FORK = z.object({ checkpoint: z.string().optional() });

export function pageThreads(parts: PageParts): Hono<ServerEnv> {
  const { host, access, saver, own } = parts;
  const out = async (c: ServerContext, id: string) => threadOut(await access.thread(c, id), parts);
  const start = (thread: string, content: MessageContent, options: StartThreadOptions = {}) =>
    host.thread(thread).start(content, { strategy: "enqueue", ...options });

  /** A message with images. Answers 422 if the model takes none. */
  const contentOf = async (
    text: string,
    images: z.output<typeof IMAGES> = [],
    model: string | undefined,
  ): Promise<MessageContent> => {
    if (images.length === 0) return text;
    // The model of a user's graph is unknown, and not checked.
    const choice = await own?.modelOf(model);
    if (choice && !(await new Sight({ model: choice.model }).media()).includes("image"))
      refuse(422, `${choice.name} does not take images.`);
    return [{ type: "text", text }, ...images.map(imageBlock)];
  };

  const choices = (): OwnThreads => {
    if (own) return own;
    refuse(422, "Settings of the page do not apply to your own graphs.");
  };

  return new Hono<ServerEnv>()
    .get("/", async (c) => {
      const { before, query = "", ...part } = c.req.query();
      const most = Math.min(queryPagination(part, 50).limit, 200);
      const words = query.toLowerCase();
      const all = (await access.threads(c.get("user"))).filter(
        ({ id, summary }) => id.includes(words) || summary?.title?.toLowerCase().includes(words),
      );
      const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
      const page = all.slice(from, from + most);
      const threads = await mapInTurns(page, (info) => threadOut(info, parts));
      return json(c, { threads, more: from + most < all.length });
    })
    .post("/", async (c) => {
      const {
        task: words,
        images,
        graph = host.graphName(undefined),
        settings,
      } = validate(NEW, await body(c));
      // Checked before the thread exists: a run that cannot begin leaves nothing to report an error in.
      host.graph(graph);
      const allowed = settings && (await allowedSettings(settings, choices()));
      if (settings?.model !== undefined) await own?.modelOf(settings.model);
      const content = await contentOf(words, images, settings?.model ?? own?.model);
      const id = await newThreadId(saver, words);
      const owner = c.get("user");
      // The title until the graph sets one.
      await host.noteThread(id, { graph, metadata: { title: words }, ...(owner !== undefined && { owner }) });
      const run = await start(id, content, allowed && { settings: allowed });
      return json(c, { thread: await out(c, id), run: run.id }, 201);
    })
    .get("/:thread", async (c) => json(c, await openThread(parts, () => access.thread(c))))
    .delete("/:thread", async (c) => {
      const { id } = await access.thread(c);
      await host.remove(id);
      return c.body(null, 204);
    })
    .post("/:thread/runs", async (c) => {
      const { id } = await access.thread(c);
      const { task: words, images, compact } = validate(NEXT, await body(c));
      const content = await contentOf(words, images, (await settingsOfThread(saver, id))?.model);
      const isQueued = (await host.isBusy(id)) || (await isAsking(saver, id));
      const run = await start(id, content, { waitsForAnswer: true, ...(compact && { compact }) });
      return json(c, { run: run.id, ...(isQueued && { queued: true }) }, 202);
    })
    .post("/:thread/messages", async (c) => {
      const { id } = await access.thread(c);
      const { task: words, images } = validate(NEXT, await body(c));
      const content = await contentOf(words, images, (await settingsOfThread(saver, id))?.model);
      if (await host.thread(id).leave(content)) {
        // Other tabs show the message until the agent reads it.
        await host.noteMove(id);
        return json(c, {}, 202);
      }
      if (await isAsking(saver, id)) {
        refuse(409, "The agent has asked a question: answer it first. Your message was not sent.");
      }
      const run = await start(id, content);
      return json(c, { run: run.id }, 202);
    })
    .post("/:thread/undo", async (c) => {
      const { id } = await access.thread(c);
      const result = await host.thread(id).undo();
      if (!result) refuse(409, "There is nothing to undo.");
      return json(c, { text: result.text, isFirst: result.isFirst, notes: undoneWords(result) });
    })
    .patch("/:thread/settings", async (c) => {
      const { id } = await access.thread(c);
      const change = validate(CHANGE, await body(c));
      const { model, mode } = change;
      const { modelOf, mode: most } = choices();
      if (model !== undefined) await modelOf(model);
      if (mode !== undefined) checkMode(mode, await most());
      await host.thread(id).changeSettings(defined(change));
      return json(c, { thread: await out(c, id) });
    })
    .post("/:thread/resume", async (c) => {
      const { id } = await access.thread(c);
      if (await host.isBusy(id)) refuse(409, "The thread is running already.");
      // When two clients resume at the same time, the later one fails.
      const run = await host.thread(id).goOn();
      if (!run) refuse(409, "The thread is finished: give it another task.");
      return json(c, { run: run.id }, 202);
    })
    .post("/:thread/stop", async (c) => {
      const { id } = await access.thread(c);
      return json(c, { stopped: await host.thread(id).stop() });
    })
    .post("/:thread/answers", async (c) => {
      const { id, summary } = await access.thread(c);
      if (summary?.state === "running" && !(await host.isBusy(id))) {
        refuse(409, "Another process works on this thread, such as a terminal: answer it there.");
      }
      const { answers } = validate(ANSWERS, await body(c));
      const thread = host.thread(id);
      const active = await thread.active();
      if (active?.hasAsked) await active.done;
      const open = (await host.isBusy(id)) ? [] : await thread.questions();
      if (Object.keys(answers).length === 0) refuse(422, "There is no answer.");
      for (const [questionId, answer] of Object.entries(answers)) {
        const question = open.find((one) => one.id === questionId);
        if (!question) refuse(409, "The question is no longer open.");
        checkAnswer(question.kind, answer);
      }
      const plain = await withoutRules(parts, id, { answers, questions: open });
      const run = await thread.answer(signAnswers(plain, c.get("user")));
      return json(c, { run: run.id }, 202);
    })
    .get("/:thread/offers", async (c) => {
      const { id } = await access.thread(c);
      const offers = await offersOf(parts, id, await host.thread(id).questions());
      const labels = [...offers].map(([question, all]) => [question, all.map(({ label }) => label)]);
      return json(c, { offers: Object.fromEntries(labels) });
    })
    .put("/:thread/plan", async (c) => {
      const { id } = await access.thread(c);
      const { todos, base, rules } = validate(PLAN, await body(c));
      try {
        const edit = { todos, base: base as Todo[], rules };
        const plan = await host.thread(id).editPlan(edit, { signal: c.req.raw.signal });
        return json(c, { todos: plan });
      } catch (error) {
        if (!(error instanceof PlanConflict)) throw error;
        const { code, message, todos: now } = error;
        return json(c, { error: code, message, todos: now }, 409);
      }
    })
    .post("/:thread/fork", async (c) => {
      const { id, hosted } = await access.thread(c);
      const { checkpoint } = validate(FORK, await body(c));
      const to = await newThreadId(saver, id.replace(/-[a-z0-9]{4}$/, ""));
      const owner = c.get("user");
      const metadata = { ...hosted?.metadata, copied_from: id };
      const note = { graph: await host.graphOf(id), metadata, ...(owner !== undefined && { owner }) };
      await host.thread(id).fork(to, { checkpoint, note });
      return json(c, { thread: await out(c, to) }, 201);
    })
    .get("/:thread/history", async (c) => {
      const { id } = await access.thread(c);
      const { before, ...part } = c.req.query();
      const limit = Math.min(queryPagination(part, 100).limit, 1000);
      return json(c, await historyOf(parts, id, { before, limit }));
    })
    .get("/:thread/checkpoints/:checkpoint", async (c) => {
      return json(c, await openThread(parts, () => access.thread(c), c.req.param("checkpoint")));
    });
}

/** Answers 422 for a mode that asks less than the mode of new threads. */
function checkMode(mode: Mode, most: Mode): void {
  if (MODES.indexOf(mode) <= MODES.indexOf(most)) return;
  refuse(422, `New threads have mode ${most} here: ${mode} asks less.`);
}

const STRICTEST_FIRST: readonly RunSettings["approve"][] = ["always", "first", "never"];

/** Settings of a new thread: at least as strict as the server's. */
async function allowedSettings(
  { shell, ask, approve, ...rest }: z.output<typeof SETTINGS>,
  { defaults, mode }: OwnThreads,
): Promise<Record<string, unknown>> {
  if (rest.mode !== undefined) checkMode(rest.mode, await mode());
  if (shell && !defaults.shell) {
    refuse(422, "Commands are not allowed here: start the server with --shell.");
  }
  return {
    ...defined(rest),
    ...(approve && { approve: STRICTEST_FIRST.find((one) => one === approve || one === defaults.approve) }),
    ...(shell === false && { shell }),
    ...(ask && { ask: [...new Set([...defaults.ask, ...ask])] }),
    // A thread that asks for some tools asks for commands too, and so cannot have mode `auto`.
    ...(ask && (await mode()) === "auto" && { mode: DEFAULT_MODES.alone }),
  };
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Answers 422 for an answer that does not fit its question. */
function checkAnswer(kind: string, answer: unknown): void {
  if (kind === "clarification" || kind === "other") return;
  const decision = isRecord(answer) ? parseDecision(answer) : undefined;
  if (!decision) refuse(422, "Answer with approve, edit or reject.");
  const { type, edited } = decision;
  if (kind === "plan-approval" && type === "edit" && !Array.isArray(edited?.args["todos"])) {
    refuse(422, "An edit of the plan needs its items, in todos.");
  }
}
