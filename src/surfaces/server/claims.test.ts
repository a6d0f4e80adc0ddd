import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORES_BELOW, type StorePlace } from "../../../test/helpers/postgres/stores.ts";
import { createDeepAgent } from "../../deep/index.ts";
import type { ThreadStore } from "../../storage/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { createServer, type Server } from "./index.ts";

const USERS = ["ann", "ben"] as const;
const STRATEGIES = ["enqueue", "interrupt", "rollback", "reject"] as const;

describe.each(STORES_BELOW)(
  "when two users take a new name at once, with threads in $name,",
  ({ create }) => {
    let place: StorePlace;
    let checkpointer: ThreadStore;
    let server: Server;

    beforeEach(async () => {
      place = await create();
      checkpointer = await place.open();
      const model = new ScriptedModel([({ messages }) => `Answer to ${messages.at(-1)!.text}`], {
        loop: true,
      });
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
          body: body ? JSON.stringify(body) : undefined,
        }),
      );

    /** Lets both do the same at once: each has a thread of their own by that name. */
    async function taken(thread: string, take: (user: string) => Promise<Response>): Promise<void> {
      const answers = await Promise.all(USERS.map(take));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const seen = await Promise.all(USERS.map((user) => send(user, "GET", `/threads/${thread}`)));
      expect(seen.map(({ status }) => status)).toEqual([200, 200]);
      const owners = (await checkpointer.ledger.threads()).map(({ owner }) => owner);
      expect(new Set(owners)).toEqual(new Set(USERS));
      expect(owners).toHaveLength(2);
    }

    it.each(STRATEGIES)("each user runs their own thread, with runs that are to %s", async (strategy) => {
      const thread = `run-${strategy}`;
      await taken(thread, (user) =>
        send(user, "POST", `/threads/${thread}/runs/wait`, {
          assistant_id: "agent",
          if_not_exists: "create",
          multitask_strategy: strategy,
          input: { messages: `the words of ${user}` },
        }),
      );
      for (const user of USERS) {
        const state = await (await send(user, "GET", `/threads/${thread}/state`)).text();
        expect(new Set(state.match(/the words of \w+/g))).toEqual(new Set([`the words of ${user}`]));
        expect(state).toContain(`Answer to the words of ${user}`);
      }
    });

    it("each user makes their own thread", async () => {
      await taken("made", (user) => send(user, "POST", "/threads", { thread_id: "made" }));
      expect(await checkpointer.ledger.thread("made")).toMatchObject({ id: "made" });
    });

    it("each user watches their own thread", async () => {
      const streams: Response[] = [];
      await taken("watched", async (user) => {
        const answer = await send(user, "POST", "/threads/watched/stream/events", { channels: ["values"] });
        streams.push(answer);
        // An open stream has no end to be read.
        return answer.ok ? new Response() : answer;
      });
      for (const { body } of streams) await body!.cancel();
      expect(streams).toHaveLength(2);
    });
  },
);
