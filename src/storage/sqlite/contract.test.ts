import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sqliteSaver } from "../sqlite.ts";
import type { SqliteSaver } from "./saver.ts";

// LangGraph's suite takes the functions of the test runner from the global scope, when it is called.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

const initializer = {
  checkpointerName: "sqliteSaver",
  createCheckpointer: () => sqliteSaver(":memory:"),
  destroyCheckpointer: (saver: SqliteSaver) => saver.close(),
};

validate(initializer);
deltaChannelHistoryTests(initializer);
