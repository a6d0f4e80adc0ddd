import type { BaseStore } from "@langchain/langgraph";
import type { Host } from "../../../threads/host/index.ts";
import type { Access } from "./access.ts";
import type { Streams } from "./streams.ts";

export {
  Access,
  type Auth,
  createdAt,
  hasFailed,
  type ThreadInfo,
  stateUpdatedAt,
  updatedAt,
  type User,
} from "./access.ts";
export { validate, failure, failureOf, json, jsonText, redactedFailure, refuse, toJson } from "./answers.ts";
export { body, checkId, idList, listBody, metadataOf, shortList } from "./body.ts";
export type { ServerContext, ServerEnv } from "./context.ts";
export type { ServerSentEvent } from "./event-body.ts";
export { pagination, type Pagination, queryPagination } from "./pagination.ts";
export { withoutPrivateIds } from "./private-ids.ts";
export { signAnswers } from "./sign-answers.ts";
export { Streams } from "./streams.ts";
export { filterInTurns, mapInTurns } from "./turns.ts";

/** Dependencies of the routes. */
export interface ServerParts {
  host: Host;
  access: Access;
  streams: Streams;
  store: BaseStore;
}
