import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORES, type StorePlace } from "../../../test/stores.ts";
import { createDeepAgent } from "../../deep/index.ts";
import type { ThreadStore } from "../../storage/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { createServer, type Server } from "./index.ts";

const USERS = ["ann", "ben"] as const;
const STRATEGIES = ["enqueue", "interrupt", "rollback", "reject"] as const;

describe.each(STORES)("of two users who take a new name at once, with threads in $name,", ({ create }) => {
  let place: StorePlace;
  let checkpointer: ThreadStore;
  let server: Server;

  beforeEach(async () => {
    place = await create();
    checkpointer = await place.open();
    const model = new ScriptedModel([({ messages }) => `Answer to ${messages.at(-1)!.text}`], { loop: true });
    server = await createServer({
      graphs: { agent: createDeepAgent({ model, plan: false }) },
      checkpointer,
      auth: { authenticate: ({ headers }) => ({ id: headers.get("x-api-key") ?? "" }) },
    });
  });
  afterEach(async () => {
    await server.close();
    await checkpointer.close();
    place.remove();
  });

  const send = async (user: string, method: string, path: string, body?: object): Promise<Response> =>
    server.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { "x-api-key": user, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );

  /** Lets both do the same at once; returns the one whose thread it is. */
  async function won(thread: string, take: (user: string) => Promise<Response>): Promise<string> {
    const answers = await Promise.all(USERS.map(take));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]));
    const first = USERS.find((_, at) => answers[at]!.status === 200)!;
    expect(await answers.find(({ status }) => status === 404)!.text()).toMatch(/not found/);
    const seen = await Promise.all(USERS.map((user) => send(user, "GET", `/threads/${thread}`)));
    expect(seen.map(({ status }) => status)).toEqual(USERS.map((user) => (user === first ? 200 : 404)));
    return first;
  }

  it.each(STRATEGIES)("one runs it and the other finds nothing, whose run is to %s", async (strategy) => {
    const thread = `run-${strategy}`;
    const first = await won(thread, (user) =>
      send(user, "POST", `/threads/${thread}/runs/wait`, {
        assistant_id: "agent",
        if_not_exists: "create",
        multitask_strategy: strategy,
        input: { messages: `the words of ${user}` },
      }),
    );
    const state = await (await send(first, "GET", `/threads/${thread}/state`)).text();
    expect(new Set(state.match(/the words of \w+/g))).toEqual(new Set([`the words of ${first}`]));
    expect(state).toContain(`Answer to the words of ${first}`);
  });

  it("one makes it, and the other finds nothing", async () => {
    const first = await won("made", (user) => send(user, "POST", "/threads", { thread_id: "made" }));
    expect(await checkpointer.ledger.thread("made")).toMatchObject({ owner: first });
  });

  it("one watches it, and the other finds nothing", async () => {
    const streams: Response[] = [];
    const first = await won("watched", async (user) => {
      const answer = await send(user, "POST", "/threads/watched/stream/events", { channels: ["values"] });
      streams.push(answer);
      // An open stream has no end to be read.
      return answer.ok ? new Response() : answer;
    });
    for (const { ok, body } of streams) if (ok) await body!.cancel();
    expect(await checkpointer.ledger.thread("watched")).toMatchObject({ owner: first });
  });
});
