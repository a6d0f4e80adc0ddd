import { v7 as uuid } from "@langchain/core/utils/uuid";
import { Hono } from "hono";
import type { RunRecord } from "../../../storage/index.ts";
import { type Host, type Run, firstNumber, type RunRequest } from "../../../threads/host/index.ts";
import { answersById, isKeyed, waitingOf } from "../../../threads/run/index.ts";
import {
  body,
  listBody,
  idList,
  json,
  toJson,
  refuse,
  type ServerContext,
  type ServerEnv,
  queryPagination,
  withoutPrivateIds,
  type ServerParts,
  signAnswers,
} from "../http/index.ts";
import { assistantId, type Assistants } from "./assistants.ts";
import { ClassicEvents, type StreamSelection } from "./events/classic-events.ts";
import { interruptOut } from "./events/wire.ts";
import { selected, selectOf } from "./listing.ts";
import { readRunBody, runRequest, selectionOf, type RunBody } from "./request.ts";
import { stateOf } from "./threads.ts";

/** Routes that start, stream and stop runs, on a thread or without one. */
export class RunRoutes {
  readonly #parts: ServerParts;
  readonly #assistants: Assistants;

  constructor(parts: ServerParts, assistants: Assistants) {
    this.#parts = parts;
    this.#assistants = assistants;
  }

  /** The routes under `/threads/:thread/runs`. */
  ofThread(): Hono<ServerEnv> {
    const { host } = this.#parts;
    return this.#commonRoutes()
      .get("/", async (c) => {
        const { id } = await this.#parts.access.thread(c);
        const { status, ...query } = c.req.query();
        const { limit, offset } = queryPagination(query);
        const select = selectOf({ select: c.req.queries("select") });
        const all = await host.ledger.runs(id);
        const runs = all.filter((run) => status === undefined || run.status === status);
        const page = runs.slice(offset, offset + limit);
        return json(
          c,
          page.map((run) => selected(runOut(run), select)),
        );
      })
      .get("/:run", async (c) => json(c, runOut(await this.#record(c))))
      .delete("/:run", async (c) => {
        const { id } = await this.#record(c);
        await host.cancel(id);
        await host.removeRun(id);
        return c.body(null, 204);
      })
      .get("/:run/join", async (c) => {
        const record = await this.#record(c);
        const run = await this.#recent(record);
        return run ? this.#result(c, run) : json(c, (await stateOf(host, record.thread)).values);
      })
      .post("/:run/cancel", async (c) => {
        const { id } = await this.#record(c);
        const isRolledBack = c.req.query("action") === "rollback";
        const end = host.cancel(id, { isRolledBack });
        const isWaiting = c.req.query("wait") === "1" || c.req.query("wait") === "true";
        if (isWaiting) await end;
        // No request waits for its error.
        else void end.catch(() => {});
        return c.body(null, isWaiting ? 204 : 202);
      });
  }

  /** The routes under `/runs`: each run gets a temporary thread. */
  stateless(): Hono<ServerEnv> {
    const { host, access } = this.#parts;
    return this.#commonRoutes()
      .post("/batch", async (c) => {
        const bodies = (await listBody(c)).map((one) => readRunBody(one as Record<string, unknown>));
        const runs: object[] = [];
        for (const one of bodies) runs.push(runOut((await this.#begin(c, one)).record));
        return json(c, runs);
      })
      .post("/cancel", async (c) => {
        const { thread_id: name, run_ids: ids, status } = await body(c);
        const thread = typeof name === "string" ? (await access.resolve(c, name)).id : undefined;
        const wantedIds = Array.isArray(ids) ? new Set(idList("run_ids", ids)) : new Set();
        const isMatch = ({ id, thread: owner, status: own }: RunRecord): boolean =>
          (wantedIds.size === 0 || wantedIds.has(id)) &&
          (thread === undefined || thread === owner) &&
          (typeof status !== "string" || status === "all" || status === own);
        const isRolledBack = c.req.query("action") === "rollback";
        const unfinished = await host.ledger.unfinished();
        for (const run of unfinished.filter(isMatch).toReversed()) {
          const owner = (await host.ledger.thread(run.thread))?.owner;
          if (await access.mayUse(c.get("user"), { id: run.thread, owner }))
            await host.cancel(run.id, { isRolledBack });
        }
        return c.body(null, 204);
      });
  }

  /** The routes that both have. */
  #commonRoutes(): Hono<ServerEnv> {
    return new Hono<ServerEnv>()
      .post("/", async (c) => json(c, runOut((await this.#start(c)).run.record)))
      .post("/stream", (c) => this.#stream(c))
      .post("/wait", async (c) => this.#result(c, (await this.#start(c)).run))
      .get("/:run/stream", (c) => this.#parts.streams.admit(c, () => this.#join(c)));
  }

  async #start(
    c: ServerContext,
    defaults: Record<string, unknown> = {},
  ): Promise<{ run: Run; runBody: RunBody }> {
    const runBody = readRunBody({ ...defaults, ...(await body(c)) });
    return { run: await this.#begin(c, runBody, c.req.param("thread")), runBody };
  }

  async #begin(c: ServerContext, runBody: RunBody, thread?: string): Promise<Run> {
    // Refuses unknown modes before the run starts.
    selectionOf(runBody.stream_mode, false);
    const request = runRequest(runBody, this.#assistants, { isTemporary: thread === undefined });
    const run = await startRun(this.#parts, c, {
      request,
      thread,
      isCreated: runBody.if_not_exists === "create",
    });
    c.header("Content-Location", withoutPrivateIds(c.get("user"), `/threads/${run.thread}/runs/${run.id}`));
    return run;
  }

  #stream(c: ServerContext): Promise<Response> {
    return this.#parts.streams.admit(c, async () => {
      const { run, runBody } = await this.#start(c, { stream_mode: "values" });
      const selection = selectionOf(runBody.stream_mode, runBody.stream_subgraphs ?? false);
      return this.#watch(c, run, { selection, after: 0, isCancelling: runBody.on_disconnect === "cancel" });
    });
  }

  async #join(c: ServerContext): Promise<Response> {
    const { host, streams } = this.#parts;
    const record = await this.#record(c);
    const run = await this.#recent(record);
    const selection = selectionOf(modesOf(c), true);
    if (run) {
      const last = c.req.header("last-event-id");
      const after = last === undefined ? run.chunks.last : Math.max(0, Number(last) || 0);
      return this.#watch(c, run, {
        selection,
        after,
        isCancelling: c.req.query("cancel_on_disconnect") === "1",
      });
    }
    // The run ended long ago: only the state is left.
    const { values } = await stateOf(host, record.thread);
    return streams.open(c, (stream) => stream.send([{ event: "values", data: toJson(values) }]));
  }

  #watch(
    c: ServerContext,
    run: Run,
    { selection, after, isCancelling }: { selection: StreamSelection; after: number; isCancelling: boolean },
  ): Response {
    const { host, streams } = this.#parts;
    // LangGraph's client reconnects to this location.
    c.header("Location", withoutPrivateIds(c.get("user"), `/threads/${run.thread}/runs/${run.id}/stream`));
    return streams.open(c, async (stream, signal) => {
      const onDisconnect = (): void => void host.cancel(run.id).catch(() => {});
      if (isCancelling) signal.addEventListener("abort", onDisconnect, { once: true });
      const events = new ClassicEvents(selection);
      const metadata = { run_id: run.id, thread_id: run.thread, attempt: run.record.attempt };
      const { chunks } = run;
      const first = firstNumber(run.record);
      const isKnown = chunks.first <= after && after <= chunks.last;
      // Chunks of an attempt that was killed are lost with its process.
      if (after > 0 && after < first - 1 && !isKnown) {
        const data = toJson({ ...metadata, gap: true });
        await stream.send([{ id: first - 1, event: "metadata", data }]);
      }
      for await (const entries of chunks.read(0, { signal })) {
        const ready = entries.flatMap((entry) => {
          const { n } = entry;
          const converted = "gap" in entry ? events.ofGap(entry.kept, metadata) : events.of(entry.event);
          return n > after ? converted.map(({ event, data }) => ({ id: n, event, data: toJson(data) })) : [];
        });
        await stream.send(ready);
      }
      signal.removeEventListener("abort", onDisconnect);
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

  /** The run of a record; undefined if it ended some time ago. Answers 503 for one that is not on this server. */
  async #recent({ id, status }: RunRecord): Promise<Run | undefined> {
    const run = await this.#parts.host.run(id);
    if (run || (status !== "pending" && status !== "running")) return run;
    refuse(503, `Run ${id} is not running on this server: try again later.`);
  }

  /** The record of the run that a request names. Answers 404 for a run of another thread or another user. */
  async #record(c: ServerContext): Promise<RunRecord> {
    const { host, access } = this.#parts;
    const id = c.req.param("run") ?? "";
    const name = c.req.param("thread");
    const thread = name === undefined ? undefined : (await access.resolve(c, name)).id;
    const run = await host.run(id);
    const record = run?.record ?? (await host.ledger.run(id));
    const owner = run ? run.owner : record && (await host.ledger.thread(record.thread))?.owner;
    const isNamed = record !== undefined && (thread === undefined || record.thread === thread);
    // A temporary thread may be removed by now: only the owner is checked.
    if (!isNamed || !(await access.mayUse(c.get("user"), { id: record.thread, owner }))) {
      refuse(404, `Run ${id} not found`);
    }
    return record;
  }
}

/** Starts a run for the sender of a request. Answers 404 for a thread that does not exist or belongs to another user. */
export async function startRun(
  { host, access }: Pick<ServerParts, "host" | "access">,
  c: ServerContext,
  { request, thread, isCreated }: { request: RunRequest; thread: string | undefined; isCreated: boolean },
): Promise<Run> {
  const { id, info } = await access.resolve(c, thread ?? uuid());
  if (!info && thread !== undefined && !isCreated) {
    refuse(404, `Thread with ID ${thread} not found`);
  }
  const boundRequest = await withAnswers(host, id, request, c.get("user"));
  const isContinuation =
    !boundRequest.command && !boundRequest.checkpoint && Object.keys(boundRequest.input ?? {}).length === 0;
  const isIdle = async (): Promise<boolean> => !(await host.isBusy(id));
  if (isContinuation && (!info || ((await isIdle()) && (await stateOf(host, id)).tasks.length === 0))) {
    refuse(422, "This thread has nothing to resume: send an input or a command.");
  }
  // The owner at the lookup: another user may have taken the name since.
  const owner = info ? info.hosted?.owner : c.get("user");
  const note = owner === undefined ? {} : { owner };
  if (info || thread === undefined) return host.start(id, boundRequest, { note });
  // Claimed first: starting may stop a run of the thread, which could be another user's.
  const claim = await access.claim(c, thread, { graph: request.graph });
  return host.start(claim.info.id, boundRequest, { note });
}

/**
 * Binds a request's answers to the questions that are open now: from a queue they could reach a later question that
 * no one has seen. Answers 422 if no question is open, or for an invalid answer, before anything is saved in the thread.
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
  // A client may see a question before it is saved. An answer without an id cannot tell which question was seen.
  if (active && (active.isAsking || isKeyed(resume))) await active.endsSoon();
  const state = await stateOf(host, thread, place && { place });
  const answers = answersById(resume, waitingOf(state));
  const where = place && { checkpoint: place };
  if (answers) return { ...others, ...where, command: { ...rest, resume: signAnswers(answers, user) } };
  if (rest.update || rest.goto) return { ...others, ...where, command: rest };
  if (state.tasks.length === 0 || (await host.isBusy(thread))) {
    refuse(422, "There is no open question in this thread.");
  }
  // The thread stopped before a node, and continues there.
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
