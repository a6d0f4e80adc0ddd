import { v7 as uuid } from "@langchain/core/utils/uuid";
import { Hono } from "hono";
import type { RunRecord } from "../../../storage/index.ts";
import { type Host, type Run, firstNumber, type RunRequest } from "../../../threads/host/index.ts";
import { answersById, isKeyed, waitingOf } from "../../../threads/run/index.ts";
import {
  body,
  json,
  toJson,
  refuse,
  type ServerContext,
  type ServerEnv,
  queryPart,
  withNames,
  type ServerParts,
  signed,
} from "../http/index.ts";
import { assistantId, type Assistants } from "./assistants.ts";
import { ClassicEvents, type Wanted } from "./events/classic-events.ts";
import { interruptOut } from "./events/wire.ts";
import { selected, selectOf } from "./listing.ts";
import { readRunBody, runRequest, wantedOf, type RunBody } from "./request.ts";
import { stateOf } from "./threads.ts";

/** Starts runs, watches them and stops them: on a thread, or without one. */
export class RunRoutes {
  readonly #parts: ServerParts;
  readonly #assistants: Assistants;

  constructor(parts: ServerParts, assistants: Assistants) {
    this.#parts = parts;
    this.#assistants = assistants;
  }

  /** The routes under `/threads/:thread/runs`. */
  ofThread(): Hono<ServerEnv> {
    const { host, streams } = this.#parts;
    return new Hono<ServerEnv>()
      .post("/", async (c) => json(c, runOut((await this.#start(c)).run.record)))
      .get("/", async (c) => {
        const { id } = await this.#parts.access.thread(c);
        const { status, ...query } = c.req.query();
        const { limit, offset } = queryPart(query);
        const select = selectOf({ select: c.req.queries("select") });
        const all = await host.ledger.runs(id);
        const runs = all.filter((run) => status === undefined || run.status === status);
        const page = runs.slice(offset, offset + limit);
        return json(
          c,
          page.map((run) => selected(runOut(run), select)),
        );
      })
      .post("/stream", (c) => this.#stream(c))
      .post("/wait", async (c) => this.#result(c, (await this.#start(c)).run))
      .get("/:run", async (c) => json(c, runOut(await this.#record(c))))
      .delete("/:run", async (c) => {
        const { id } = await this.#record(c);
        await host.cancel(id);
        await host.removeRun(id);
        return c.body(null, 204);
      })
      .get("/:run/join", async (c) => {
        const record = await this.#record(c);
        const run = await this.#found(record);
        return run ? this.#result(c, run) : json(c, (await stateOf(host, record.thread)).values);
      })
      .get("/:run/stream", (c) => streams.admit(c, () => this.#join(c)))
      .post("/:run/cancel", async (c) => {
        const { id } = await this.#record(c);
        const isRolledBack = c.req.query("action") === "rollback";
        const stopped = host.cancel(id, { isRolledBack });
        const isWaiting = c.req.query("wait") === "1" || c.req.query("wait") === "true";
        if (isWaiting) await stopped;
        // Nobody waits to hear what went wrong with it.
        else void stopped.catch(() => {});
        return c.body(null, isWaiting ? 204 : 202);
      });
  }

  /** The routes under `/runs`: each run gets a thread of its own, which goes with it. */
  stateless(): Hono<ServerEnv> {
    const { host, access, streams } = this.#parts;
    return new Hono<ServerEnv>()
      .post("/", async (c) => json(c, runOut((await this.#start(c)).run.record)))
      .post("/stream", (c) => this.#stream(c))
      .post("/wait", async (c) => this.#result(c, (await this.#start(c)).run))
      .post("/batch", async (c) => {
        const given: unknown = await c.req.json().catch(() => undefined);
        if (!Array.isArray(given)) refuse(400, "The body is no JSON list.");
        const bodies = given.map((one) => readRunBody(one as Record<string, unknown>));
        const runs: object[] = [];
        for (const one of bodies) runs.push(runOut((await this.#begin(c, one)).record));
        return json(c, runs);
      })
      .post("/cancel", async (c) => {
        const { thread_id: name, run_ids: ids, status } = await body(c);
        const thread = typeof name === "string" ? (await access.resolve(c, name)).id : undefined;
        const isWanted = ({ id, thread: owner, status: own }: RunRecord): boolean =>
          (!Array.isArray(ids) || ids.length === 0 || ids.includes(id)) &&
          (thread === undefined || thread === owner) &&
          (typeof status !== "string" || status === "all" || status === own);
        const isRolledBack = c.req.query("action") === "rollback";
        const unfinished = await host.ledger.unfinished();
        for (const run of unfinished.filter(isWanted).toReversed()) {
          const owner = (await host.ledger.thread(run.thread))?.owner;
          if (await access.mayUse(c.get("user"), { id: run.thread, owner }))
            await host.cancel(run.id, { isRolledBack });
        }
        return c.body(null, 204);
      })
      .get("/:run/stream", (c) => streams.admit(c, () => this.#join(c)));
  }

  async #start(
    c: ServerContext,
    defaults: Record<string, unknown> = {},
  ): Promise<{ run: Run; given: RunBody }> {
    const given = readRunBody({ ...defaults, ...(await body(c)) });
    return { run: await this.#begin(c, given, c.req.param("thread")), given };
  }

  async #begin(c: ServerContext, given: RunBody, thread?: string): Promise<Run> {
    wantedOf(given.stream_mode, false);
    const request = runRequest(given, this.#assistants, { isTemporary: thread === undefined });
    const run = await startRun(this.#parts, c, {
      request,
      thread,
      isCreated: given.if_not_exists === "create",
    });
    c.header("Content-Location", withNames(c.get("user"), `/threads/${run.thread}/runs/${run.id}`));
    return run;
  }

  #stream(c: ServerContext): Promise<Response> {
    return this.#parts.streams.admit(c, async () => {
      const { run, given } = await this.#start(c, { stream_mode: "values" });
      const wanted = wantedOf(given.stream_mode, given.stream_subgraphs ?? false);
      return this.#watch(c, run, { wanted, after: 0, isCancelling: given.on_disconnect === "cancel" });
    });
  }

  async #join(c: ServerContext): Promise<Response> {
    const { host, streams } = this.#parts;
    const record = await this.#record(c);
    const run = await this.#found(record);
    const wanted = wantedOf(modesOf(c), true);
    if (run) {
      const last = c.req.header("last-event-id");
      const after = last === undefined ? run.chunks.last : Math.max(0, Number(last) || 0);
      return this.#watch(c, run, {
        wanted,
        after,
        isCancelling: c.req.query("cancel_on_disconnect") === "1",
      });
    }
    // It ended long ago: all that is left of it is what it came to.
    const { values } = await stateOf(host, record.thread);
    return streams.open(c, (stream) => stream.send([{ event: "values", data: toJson(values) }]));
  }

  #watch(
    c: ServerContext,
    run: Run,
    { wanted, after, isCancelling }: { wanted: Wanted; after: number; isCancelling: boolean },
  ): Response {
    const { host, streams } = this.#parts;
    // LangGraph's client reconnects by itself where this says where to.
    c.header("Location", withNames(c.get("user"), `/threads/${run.thread}/runs/${run.id}/stream`));
    return streams.open(c, async (stream, signal) => {
      const onGone = (): void => void host.cancel(run.id).catch(() => {});
      if (isCancelling) signal.addEventListener("abort", onGone, { once: true });
      const events = new ClassicEvents(wanted);
      const metadata = { run_id: run.id, thread_id: run.thread, attempt: run.record.attempt };
      const { chunks } = run;
      const first = firstNumber(run.record);
      const isKnown = chunks.first <= after && after <= chunks.last;
      // What an attempt has said that was killed is gone with its process.
      if (after > 0 && after < first - 1 && !isKnown) {
        const data = toJson({ ...metadata, gap: true });
        await stream.send([{ id: first - 1, event: "metadata", data }]);
      }
      for await (const entries of chunks.read(0, { signal })) {
        const found = entries.flatMap((entry) => {
          const { n } = entry;
          const made = "gap" in entry ? events.ofGap(entry.kept, metadata) : events.of(entry.event);
          return n > after ? made.map(({ event, data }) => ({ id: n, event, data: toJson(data) })) : [];
        });
        await stream.send(found);
      }
      signal.removeEventListener("abort", onGone);
    });
  }

  async #result(c: ServerContext, run: Run): Promise<Response> {
    await run.done;
    const { values = {}, interrupts = [], error } = run.result ?? {};
    if (error) return json(c, { __error__: { error: error.name, message: error.message } });
    return json(c, {
      ...values,
      ...(interrupts.length > 0 && { __interrupt__: interrupts.map(interruptOut) }),
    });
  }

  /** The run of a record, if it is not over for long. Answers 503 for one that another server is at, or nobody yet. */
  async #found({ id, status }: RunRecord): Promise<Run | undefined> {
    const run = await this.#parts.host.run(id);
    if (run || (status !== "pending" && status !== "running")) return run;
    refuse(503, `Run ${id} is not at work on this server: try again later.`);
  }

  /** The run that a request names. Answers 404 for one of another thread, or of a thread of somebody else. */
  async #record(c: ServerContext): Promise<RunRecord> {
    const { host, access } = this.#parts;
    const id = c.req.param("run") ?? "";
    const name = c.req.param("thread");
    const thread = name === undefined ? undefined : (await access.resolve(c, name)).id;
    const run = await host.run(id);
    const record = run?.record ?? (await host.ledger.run(id));
    const owner = run ? run.owner : record && (await host.ledger.thread(record.thread))?.owner;
    const isNamed = record !== undefined && (thread === undefined || record.thread === thread);
    // Its thread may be gone, where it was for this run alone.
    if (!isNamed || !(await access.mayUse(c.get("user"), { id: record.thread, owner }))) {
      refuse(404, `Run ${id} not found`);
    }
    return record;
  }
}

/** Starts a run for whoever sent a request. Answers 404 for a thread that is not there, or somebody else's. */
export async function startRun(
  { host, access }: Pick<ServerParts, "host" | "access">,
  c: ServerContext,
  { request, thread, isCreated }: { request: RunRequest; thread: string | undefined; isCreated: boolean },
): Promise<Run> {
  const { id, known } = await access.resolve(c, thread ?? uuid());
  if (!known && thread !== undefined && !isCreated) {
    refuse(404, `Thread with ID ${thread} not found`);
  }
  const bound = await withAnswers(host, id, request, c.get("user"));
  const isGoingOn = !bound.command && !bound.checkpoint && Object.keys(bound.input ?? {}).length === 0;
  const isAtRest = async (): Promise<boolean> => !(await host.isBusy(id));
  if (isGoingOn && (!known || ((await isAtRest()) && (await stateOf(host, id)).tasks.length === 0))) {
    refuse(422, "There is nothing to go on with in this thread: send an input or a command.");
  }
  // Whose it was when it was looked at: by now another may have the name.
  const owner = known ? known.hosted?.owner : c.get("user");
  const note = owner === undefined ? {} : { owner };
  if (known || thread === undefined) return host.start(id, bound, { note });
  // Before anything is stopped for the run, which may be another's.
  const mine = await access.claim(c, thread, { graph: request.graph });
  return host.start(mine.known.id, bound, { note });
}

/**
 * A request whose answers are for questions that are open now: in a queue one would come to whatever is asked by then,
 * which nobody has seen. Answers 422 where nothing is asked, and for what cannot be read, before anything is begun: it
 * would stay in the thread.
 */
async function withAnswers(
  host: Host,
  thread: string,
  request: RunRequest,
  user: string | undefined,
): Promise<RunRequest> {
  const { command: { resume, ...rest } = {}, checkpoint: place, ...others } = request;
  if (resume === undefined) return request;
  const active = await host.active(thread);
  // A client may know that a run has asked before that is written down; without an id nobody knows what it has seen.
  if (active && (active.isAsking || isKeyed(resume))) await active.endsSoon();
  const state = await stateOf(host, thread, place && { place });
  const answers = answersById(resume, waitingOf(state));
  const where = place && { checkpoint: place };
  if (answers) return { ...others, ...where, command: { ...rest, resume: signed(answers, user) } };
  if (rest.update || rest.goto) return { ...others, ...where, command: rest };
  if (state.tasks.length === 0 || (await host.isBusy(thread))) {
    refuse(422, "There is no open question in this thread.");
  }
  // It was stopped before a node, and goes on from there.
  return { ...others, ...where, input: null };
}

function modesOf(c: ServerContext): string[] {
  return (c.req.queries("stream_mode") ?? []).flatMap((text) => {
    try {
      const list: unknown = JSON.parse(text);
      return Array.isArray(list) ? list.map(String) : [text];
    } catch {
      return text.split(",");
    }
  });
}

function runOut(record: RunRecord): object {
  const { graph, metadata = {}, strategy = "reject" } = record.request as RunRequest;
  return {
    run_id: record.id,
    thread_id: record.thread,
    assistant_id: assistantId(graph),
    created_at: new Date(record.createdAt).toISOString(),
    updated_at: new Date(record.updatedAt).toISOString(),
    status: record.status,
    metadata,
    multitask_strategy: strategy,
    kwargs: {},
    attempt: record.attempt,
    ...(record.reason !== undefined && { error: record.reason }),
  };
}
