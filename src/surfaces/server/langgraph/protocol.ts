import { matchesSubscription } from "@langchain/langgraph/stream";
import { Hono } from "hono";
import { STRATEGIES, type RunRequest, type Strategy, type ThreadEvent } from "../../../threads/host/index.ts";
import {
  body,
  failureOf,
  json,
  toJson,
  refuse,
  type ServerContext,
  type ServerEnv,
  type ServerSentEvent,
  type ServerParts,
} from "../http/index.ts";
import type { Assistants } from "./assistants.ts";
import { interruptOut } from "./events/wire.ts";
import { readRunBody, runRequest } from "./request.ts";
import { startRun } from "./runs.ts";
import { stateOf } from "./threads.ts";

type Params = Record<string, unknown>;

/** LangGraph's newer protocol: commands to a thread, and one stream of its events. */
export function protocolRoutes(parts: ServerParts, assistants: Assistants): Hono<ServerEnv> {
  const { host, access, streams } = parts;
  return new Hono<ServerEnv>()
    .post("/:thread/stream/events", (c) =>
      streams.admit(c, async () => {
        const filter = await body(c);
        if (!Array.isArray(filter["channels"])) refuse(422, "channels is missing.");
        // A page subscribes before its first run, so the thread may have to be created.
        const { id } = (await access.claim(c, c.req.param("thread"))).info;
        const log = await host.protocol(id);
        const { since } = filter;
        const after = typeof since === "number" && since > 0 ? since : log.start - 1;
        return streams.open(c, async (stream, signal) => {
          let hasGap = false;
          const out = (n: number, threadEvent: ThreadEvent): ServerSentEvent[] => {
            const gap = hasGap && { gap: true };
            const event = { type: "event", event_id: String(n), seq: n, ...threadEvent, ...gap } as const;
            if (!matchesSubscription(event, filter as never)) return [];
            hasGap = false;
            const data = toJson(event.method === "input.requested" ? withBothSpellings(event) : event);
            return [{ id: n, event: event.method, data }];
          };
          const { last } = log;
          const isFromBefore = after < log.start - 1;
          if (isFromBefore) {
            hasGap = true;
            await stream.send(out(last, await stateEvent(id)));
          }
          for await (const entries of log.read(isFromBefore ? last : after, { signal })) {
            const events = entries.flatMap((entry) => {
              if (!("gap" in entry)) return out(entry.n, entry.event);
              hasGap = true;
              return entry.kept ? out(entry.n, entry.kept) : [];
            });
            await stream.send(events);
          }
        });
      }),
    )
    .post("/:thread/commands", async (c) => {
      const {
        id: number,
        method,
        params,
      } = (await body(c)) as { id?: unknown; method?: unknown; params?: Params };
      const { id, info } = await access.resolve(c, c.req.param("thread"));
      try {
        const result = await command(c, { id, method, params: params ?? {}, isKnown: info !== undefined });
        const meta = { thread_id: id, applied_through_seq: (await host.protocol(id)).last };
        return json(c, { type: "success", id: number, result, meta });
      } catch (error) {
        const { code, message } = failureOf(error as Error);
        return json(c, { type: "error", id: number, error: code, message });
      }
    });

  async function command(
    c: ServerContext,
    { id, method, params, isKnown }: { id: string; method: unknown; params: Params; isKnown: boolean },
  ): Promise<object> {
    const begin = async (request: RunRequest): Promise<object> => {
      const run = await startRun(parts, c, { request, thread: c.req.param("thread"), isCreated: true });
      return { run_id: run.id };
    };
    const requestOf = async (more: Params): Promise<RunRequest> => {
      const { assistant_id = await host.graphOf(id), config, metadata } = params;
      const { configurable } = (config ?? {}) as { configurable?: Params };
      const runBody = readRunBody({
        assistant_id,
        config,
        metadata,
        checkpoint_id: configurable?.["checkpoint_id"],
        ...more,
      });
      const request = runRequest(runBody, assistants, { isTemporary: false });
      return { ...request, strategy: strategyOf(params) };
    };
    switch (method) {
      case "run.start": {
        const { input } = params;
        const isMessage = typeof input === "object" && input !== null && "messages" in input;
        const isAnswer =
          isKnown && input !== undefined && input !== null && !isMessage && (await isAsking(id));
        return begin(await requestOf(isAnswer ? { command: { resume: input } } : { input }));
      }
      case "input.respond": {
        const { responses, interrupt_id: one, response, update, goto } = params;
        const list = (responses ?? [{ interrupt_id: one, response }]) as {
          interrupt_id: string;
          response: unknown;
        }[];
        if (!Array.isArray(list) || list.some((each) => typeof each !== "object" || each === null)) {
          refuse(422, "responses is no list of answers.");
        }
        const resume = Object.fromEntries(list.map((each) => [each.interrupt_id, each.response]));
        return begin(await requestOf({ command: { resume, update, goto } }));
      }
      case "state.get":
        return { values: isKnown ? (await stateOf(host, id)).values : {} };
      default:
        refuse(422, `There is no command ${JSON.stringify(method)}.`);
    }
  }

  /** The current state as an event, for a reader that resumes from before this server started: later events are in it. */
  async function stateEvent(thread: string): Promise<ThreadEvent> {
    const { values } = await stateOf(host, thread);
    return { method: "values", params: { namespace: [], timestamp: Date.now(), data: values as unknown } };
  }

  async function isAsking(thread: string): Promise<boolean> {
    return (await stateOf(host, thread)).tasks.some(({ interrupts }) => interrupts.length > 0);
  }
}

/** The strategy of a run; `enqueue` by default, so that a message typed during a run is not lost. */
function strategyOf({ multitaskStrategy, multitask_strategy = multitaskStrategy }: Params): Strategy {
  return STRATEGIES.find((strategy) => strategy === multitask_strategy) ?? "enqueue";
}

/** An `input.requested` event with its interrupt in both spellings. */
function withBothSpellings<Event extends { params: { data: unknown } }>(event: Event): Event {
  const { payload, ...rest } = event.params.data as { payload: unknown };
  const { value } = interruptOut({ value: payload });
  return { ...event, params: { ...event.params, data: { ...rest, payload: value } } };
}
