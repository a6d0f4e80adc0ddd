import { randomUUID } from "node:crypto";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newDatabase } from "../../../test/helpers/postgres/database.ts";
import { postgresSaver } from "../postgres.ts";
import type { PostgresSaver } from "./saver.ts";

// LangGraph's suite takes the functions of the test runner from the global scope, when it is called.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

let url: Promise<string> | undefined;

const initializer = {
  checkpointerName: "postgresSaver",
  createCheckpointer: async () =>
    postgresSaver(await (url ??= newDatabase()), {
      schema: `s_${randomUUID().replaceAll("-", "")}`,
      poolSize: 2,
    }),
  destroyCheckpointer: (saver: PostgresSaver) => saver.close(),
};

validate(initializer);
deltaChannelHistoryTests(initializer);
