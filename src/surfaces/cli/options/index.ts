export { APPROVALS, EFFORTS, FORMATS, MODES, PRESETS, SANDBOXES, SHELLS } from "./choices.ts";
export {
  ACP_FLAGS,
  count,
  EXIT_CODES,
  flag,
  type FlagsOf,
  JSON_LINES,
  MCP_FLAGS,
  PROVIDER,
  RESUME_FLAGS,
  RUN_FLAGS,
  RUNNING_FLAGS,
  STATE_FLAGS,
  text,
  THREAD,
  word,
} from "./command-options.ts";
export { limitsFrom, queueName, WORKER_FLAGS, type WorkerFlags } from "./worker-options.ts";
