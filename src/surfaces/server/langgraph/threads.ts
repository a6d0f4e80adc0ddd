import { setImmediate } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";
import { v7 as uuid } from "@langchain/core/utils/uuid";
import type { StateSnapshot } from "@langchain/langgraph";
import { Hono } from "hono";
import { z } from "zod";
import { withPartedInterrupts } from "../../../langgraph/index.ts";
import type { Todo } from "../../../plan/index.ts";
import { isRecord } from "../../../plan/read/index.ts";
import { type Host, writable } from "../../../threads/host/index.ts";
import { blindEdit, type PlanEdit, waitingInput } from "../../../threads/plan/index.ts";
import { Thread } from "../../../threads/thread/index.ts";
import { copyThread } from "../../../threads/undo/index.ts";
import {
  createdAt,
  hasFailed,
  type ThreadInfo,
  stateUpdatedAt,
  updatedAt,
  body,
  validate,
  json,
  jsonText,
  metadataOf,
  toJson,
  refuse,
  type ServerContext,
  type ServerEnv,
  pagination,
  type Pagination,
  queryPagination,
  type ServerParts,
  filterInTurns,
  mapInTurns,
  idList,
} from "../http/index.ts";
import { assistantId, type Assistants } from "./assistants.ts";
import { checkpointOf, interruptOut, stateOut } from "./events/wire.ts";
import { contains, selected, selectOf, sorted } from "./listing.ts";

type Body = Record<string, unknown>;

/** The state of a thread, at its newest checkpoint or at `place`. */
export async function stateOf(
  host: Host,
  thread: string,
  { place = {}, subgraphs = false }: { place?: object; subgraphs?: boolean } = {},
): Promise<StateSnapshot> {
  const { graph } = await host.graph(await host.graphOf(thread)).reader(thread);
  const config = { configurable: { ...place, thread_id: thread } };
  return withPartedInterrupts(await graph.getState(config, { subgraphs }));
}

export function threadRoutes({ host, access }: ServerParts, assistants: Assistants): Hono<ServerEnv> {
  /** A thread in LangGraph's format; its values are only read with `hasValues`. */
  async function threadOut(info: ThreadInfo, { hasValues = true } = {}): Promise<Record<string, unknown>> {
    const { id, hosted, summary } = info;
    const graph = host.graphName(hosted);
    const mayWait = summary === undefined || summary.state === "interrupted";
    const state = hasValues || mayWait ? await stateOf(host, id) : undefined;
    const asking = (state?.tasks ?? []).filter(({ interrupts }) => interrupts.length > 0);
    return {
      thread_id: id,
      created_at: new Date(createdAt(info)).toISOString(),
      updated_at: new Date(updatedAt(info)).toISOString(),
      state_updated_at: new Date(stateUpdatedAt(info)).toISOString(),
      metadata: {
        graph_id: graph,
        assistant_id: assistantId(graph),
        ...hosted?.metadata,
        ...(summary?.title !== undefined && { thread_title: summary.title }),
      },
      status: await statusOf(info, state),
      config: {},
      values: hasValues ? (state?.values ?? null) : null,
      interrupts: Object.fromEntries(asking.map((task) => [task.id, task.interrupts.map(interruptOut)])),
    };
  }

  /** The status of a thread: from the store's summary, else from its state, which is read unless given. */
  async function statusOf(info: ThreadInfo, current?: StateSnapshot): Promise<string> {
    const { id, summary } = info;
    if ((await host.isBusy(id)) || summary?.state === "running") return "busy";
    if (hasFailed(info)) return "error";
    if (summary && summary.state !== "done") return "interrupted";
    const state = summary ? current : (current ?? (await stateOf(host, id)));
    return state && state.tasks.length > 0 ? "interrupted" : "idle";
  }

  async function search(c: ServerContext, fields: Body): Promise<ThreadInfo[]> {
    const { ids, status, values, sort_by } = fields;
    const filter = Object.entries(metadataOf(fields));
    if (values !== undefined && values !== null && Object.keys(values).length > 0) {
      refuse(422, "Threads cannot be searched by their values here.");
    }
    const user = c.get("user");
    const all = Array.isArray(ids) ? await access.named(c, idList("ids", ids)) : await access.threads(user);
    const matches = await filterInTurns(all, ({ hosted }) => {
      const graph = host.graphName(hosted);
      const own: Body = { graph_id: graph, assistant_id: graph, ...hosted?.metadata };
      return filter.every(([key, value]) => contains(own[key], value) || assistants.isSame(own[key], value));
    });
    const isByStatus = typeof status === "string";
    const statuses = new Map<ThreadInfo, string>();
    if (isByStatus || sort_by === "status") {
      await mapInTurns(matches, async (info) => statuses.set(info, await statusOf(info)));
    }
    return sorted(isByStatus ? matches.filter((info) => statuses.get(info) === status) : matches, fields, {
      updated_at: updatedAt,
      state_updated_at: stateUpdatedAt,
      created_at: createdAt,
      thread_id: ({ id }) => id,
      status: (info) => statuses.get(info) ?? "",
    });
  }

  async function copy(c: ServerContext, { id, hosted }: ThreadInfo): Promise<ThreadInfo> {
    const to = uuid();
    await copyThread(host.checkpointer, { from: id, to });
    const owner = c.get("user");
    await host.noteThread(to, {
      graph: host.graphName(hosted),
      metadata: { ...hosted?.metadata, copied_from: id },
      ...(owner !== undefined && { owner }),
    });
    return access.thread(c, to);
  }

  return new Hono<ServerEnv>()
    .post("/", async (c) => {
      const fields = validate(EXPIRING, await body(c));
      const { thread_id: name, if_exists: ifExists, supersteps } = fields;
      const metadata = metadataOf(fields);
      if (Array.isArray(supersteps) && supersteps.length > 0) {
        refuse(422, "supersteps are not supported here.");
      }
      const { graph_id: graph } = metadata;
      const threadId = typeof name === "string" && name !== "" ? name : uuid();
      const { isNew, info } = await access.claim(c, threadId, {
        metadata,
        ...(graph !== undefined && { graph: assistants.graph(graph) }),
      });
      if (!isNew && ifExists !== "do_nothing") refuse(409, `Thread ${threadId} already exists`);
      return json(c, await threadOut(info));
    })
    .post("/search", async (c) => {
      const fields = await body(c);
      const { limit, offset } = pagination(fields);
      const select = selectOf(fields);
      const extract = extractOf(fields);
      const hasValues = !select || select.has("values") || isWithin("values", extract);
      const out = async (info: ThreadInfo): Promise<string> => {
        const thread = await threadOut(info, { hasValues });
        return toJson({ ...selected(thread, select), ...extracted(thread, extract) });
      };
      const all = await search(c, fields);
      const page = all.slice(offset, offset + Math.min(limit, MOST));
      c.header("X-Pagination-Total", String(all.length));
      return jsonText(c, `[${(await mapInTurns(page, out)).join(",")}]`);
    })
    .post("/count", async (c) => json(c, (await search(c, await body(c))).length))
    .post("/prune", async (c) => {
      const { thread_ids: ids, strategy } = await body(c);
      if (strategy !== undefined && strategy !== "delete") {
        refuse(422, 'strategy: only "delete" is supported here.');
      }
      const names = idList("thread_ids", ids);
      const threads = await access.named(c, names);
      // Looked up alone, a missing thread gets its own error.
      if (threads.length < names.length) await mapInTurns(names, (name) => access.thread(c, name));
      for (const { id } of threads) {
        await host.remove(id);
        await setImmediate();
      }
      return json(c, { pruned_count: threads.length });
    })
    .get("/:thread", async (c) => json(c, await threadOut(await access.thread(c))))
    .patch("/:thread", async (c) => {
      const { id } = await access.thread(c);
      await host.noteThread(id, { metadata: metadataOf(validate(EXPIRING, await body(c))) });
      if (c.req.header("prefer")?.includes("return=minimal")) return c.body(null, 204);
      return json(c, await threadOut(await access.thread(c)));
    })
    .delete("/:thread", async (c) => {
      const { id } = await access.thread(c);
      await host.remove(id);
      return c.body(null, 204);
    })
    .post("/:thread/copy", async (c) => json(c, await threadOut(await copy(c, await access.thread(c)))))
    .get("/:thread/state/:checkpoint?", async (c) => {
      const { id } = await access.thread(c);
      const place = checkpointFields({ checkpoint_id: c.req.param("checkpoint") });
      const subgraphs = c.req.query("subgraphs") === "true";
      return json(c, stateOut(await stateOf(host, id, { place, subgraphs })));
    })
    .post("/:thread/state/checkpoint", async (c) => {
      const { id } = await access.thread(c);
      const { checkpoint, subgraphs } = await body(c);
      return json(
        c,
        stateOut(
          await stateOf(host, id, { place: checkpointFields(checkpoint), subgraphs: subgraphs === true }),
        ),
      );
    })
    .post("/:thread/state", async (c) => {
      const info = await access.thread(c);
      return json(c, { checkpoint: await updateState(host, info, await body(c), c.req.raw.signal) });
    })
    .patch("/:thread/state", async (c) => {
      const { id } = await access.thread(c);
      await host.thread(id).checkOwn();
      await host.noteThread(id, { metadata: metadataOf(await body(c)) });
      return c.body(null, 204);
    })
    .on(["GET", "POST"], "/:thread/history", async (c) => {
      const { id } = await access.thread(c);
      if (c.req.method === "GET") {
        const query = c.req.query();
        return jsonText(c, await historyOf(host, id, { ...query, ...queryPagination(query) }));
      }
      const fields = await body(c);
      return jsonText(c, await historyOf(host, id, { ...fields, ...pagination(fields) }));
    });
}

const EXPIRING = z.looseObject({ ttl: z.null("threads do not expire here: delete them").optional() });

/** The longest list in one response. */
const MOST = 1000;

async function updateState(
  host: Host,
  { id: thread, summary }: ThreadInfo,
  fields: Body,
  signal: AbortSignal,
): Promise<object | null> {
  await host.thread(thread).checkOwn();
  const { values, as_node: node, checkpoint, checkpoint_id: checkpointId, base } = fields;
  const graph = host.graph(await host.graphOf(thread));
  const place = {
    ...checkpointFields(checkpoint),
    ...(typeof checkpointId === "string" && { checkpoint_id: checkpointId }),
  };
  const agent = await graph.reader(thread);
  // LangGraph looks the node up in a plain object, which also has the names of `Object.prototype`.
  if (typeof node === "string" && node in Object.prototype) {
    refuse(422, `as_node: there is no node ${JSON.stringify(node)}.`);
  }
  const allowed = values === null || values === undefined ? null : writable(values as Body, { graph, agent });
  const state = await new Thread(agent, thread).state();
  const isHead = [undefined, state.config.configurable?.["checkpoint_id"]].includes(place.checkpoint_id);
  const { todos, planRules, ...others } = allowed ?? {};
  const isBusy = await host.isBusy(thread);
  const isEdit = isHead && node === undefined && allowed !== null && "todos" in agent.graph.channels;
  const hasOthers = Object.keys(others).length > 0;
  if (isBusy && (!isEdit || hasOthers)) refuse(409, "The thread is running: stop it first.");
  // Written as an edit by the user: open questions stay, and an active run continues.
  if (isEdit && (!hasOthers || hasUnfinishedStep(state))) {
    if (todos !== undefined || planRules !== undefined) {
      const { todos: now = [] } = state.values as { todos?: Todo[] };
      const isRunning = isBusy || summary?.state === "running";
      const edit = planEdit(todos as unknown[] | undefined, { now, base, isRunning });
      await host.editPlan(thread, { ...edit, rules: planRules as string[] | undefined }, { signal });
    }
    for (const write of Object.entries(others)) await waitingInput(agent, state, write);
    return checkpointOf((await stateOf(host, thread)).config);
  }
  const config = { configurable: { ...place, thread_id: thread } };
  const head = await agent.graph.updateState(config, allowed, typeof node === "string" ? node : undefined);
  await host.noteThread(thread, {});
  return checkpointOf(head);
}

/** The edit in a body. LangGraph's clients send no `base`, and may send rules without todos. */
function planEdit(
  todos: unknown[] | undefined,
  { now, base, isRunning }: { now: Todo[]; base: unknown; isRunning: boolean },
): PlanEdit {
  if (todos === undefined) return { todos: now, base: now };
  if (Array.isArray(base)) return { todos, base: base as Todo[] };
  return isRunning ? blindEdit(todos, now) : { todos };
}

/** Whether a step waits for an answer or is partly finished: a new checkpoint would discard it. */
function hasUnfinishedStep({ tasks }: StateSnapshot): boolean {
  return tasks.some(({ interrupts, result }) => interrupts.length > 0 || result !== undefined);
}

/** The history of a thread as JSON. Yields to the event loop per checkpoint, and serializes shared messages once. */
async function historyOf(host: Host, thread: string, fields: Body & Pagination): Promise<string> {
  const { limit, before, checkpoint } = fields;
  const filter = metadataOf(fields);
  const { graph } = await host.graph(await host.graphOf(thread)).reader(thread);
  const config = { configurable: { checkpoint_ns: "", ...checkpointFields(checkpoint), thread_id: thread } };
  const states: string[] = [];
  const cache = new WeakMap<object, object>();
  const options = {
    limit: Math.min(limit, MOST),
    ...(before !== undefined && before !== null && { before: beforeOf(before) }),
    ...(Object.keys(filter).length > 0 && { filter }),
  };
  for await (const state of graph.getStateHistory(config, options)) {
    states.push(toJson(stateOut(state), cache));
    await setImmediate();
  }
  return `[${states.join(",")}]`;
}

function beforeOf(before: unknown): RunnableConfig {
  if (typeof before === "string") return { configurable: { checkpoint_id: before } };
  const { configurable, ...place } = before as { configurable?: Body };
  return { configurable: configurable ?? place };
}

/** The checkpoint that a client names. Its thread comes from the URL only. */
function checkpointFields(checkpoint: unknown): object {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map } = (checkpoint ?? {}) as Body;
  return {
    ...(typeof id === "string" && { checkpoint_id: id }),
    ...(typeof ns === "string" && { checkpoint_ns: ns }),
    ...(typeof map === "object" && map !== null && { checkpoint_map: map }),
  };
}

/** Such as `values.messages[-1].content`: field names and list indexes; a negative index counts from the end. */
const PATH = /^[^.[\]]+(?:\.[^.[\]]+|\[-?\d+\])*$/;
const MOST_PATHS = 10;
const EXTRACT = z.looseObject({
  extract: z
    .record(z.string(), z.string().regex(PATH, "write a path as values.messages[-1].content"))
    .refine((paths) => Object.keys(paths).length <= MOST_PATHS, `there are at most ${MOST_PATHS} paths`)
    .nullish(),
});

/** The client's names for parts of a thread, each with the steps of its path. */
type Extract = ReadonlyMap<string, readonly string[]>;

/** Reads the paths to extract. Answers 422 for an invalid one. */
function extractOf(fields: Record<string, unknown>): Extract {
  const { extract } = validate(EXTRACT, fields);
  return new Map(Object.entries(extract ?? {}).map(([name, path]) => [name, path.match(/[^.[\]]+/g)!]));
}

/** Whether one of the paths begins with a field. */
function isWithin(field: string, extract: Extract): boolean {
  return [...extract.values()].some(([first]) => first === field);
}

/** The extracted parts of a thread's JSON; null for a missing part. */
function extracted(thread: object, extract: Extract): { extracted?: Record<string, unknown> } {
  if (extract.size === 0) return {};
  const plain: unknown = JSON.parse(toJson(thread));
  const parts = [...extract].map(([name, path]) => [name, path.reduce(partOf, plain) ?? null] as const);
  return { extracted: Object.fromEntries(parts) };
}

function partOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? (value.at(Number(step)) as unknown) : undefined;
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
