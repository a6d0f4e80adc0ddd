import type { BaseStore } from "@langchain/langgraph";
import type { RunHost } from "../../runs/host/host.ts";
import type { Access } from "./access.ts";
import type { Streams } from "./streams.ts";

/** What the routes work with. */
export interface ServerParts {
  host: RunHost;
  access: Access;
  streams: Streams;
  store: BaseStore;
}
