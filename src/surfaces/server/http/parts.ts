import type { BaseStore } from "@langchain/langgraph";
import type { Host } from "../../../threads/host/index.ts";
import type { Access } from "./access.ts";
import type { Streams } from "./streams.ts";

/** Dependencies of the routes. */
export interface ServerParts {
  host: Host;
  access: Access;
  streams: Streams;
  store: BaseStore;
}
