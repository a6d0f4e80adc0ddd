export {
  Access,
  type Auth,
  createdAt,
  hasFailed,
  type KnownThread,
  stateUpdatedAt,
  updatedAt,
  type User,
} from "./access.ts";
export {
  body,
  checked,
  failure,
  failureOf,
  json,
  jsonText,
  metadataOf,
  redactedFailure,
  refuse,
  toJson,
} from "./answers.ts";
export type { ServerContext, ServerEnv } from "./context.ts";
export type { ServerSentEvent } from "./event-body.ts";
export { listPart, type ListPart, queryPart } from "./list-part.ts";
export { withNames } from "./own-names.ts";
export type { ServerParts } from "./parts.ts";
export { signed } from "./signed.ts";
export { Streams } from "./streams.ts";
