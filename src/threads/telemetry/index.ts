export { traceRun, type TraceableAgent, type TraceRunOptions } from "./trace-run.ts";
