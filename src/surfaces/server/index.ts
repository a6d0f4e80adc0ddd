export type { Auth, User } from "./http/index.ts";
export { type GraphFactory, type GraphSource, type ServedGraph, hostedGraphs } from "./graphs.ts";
export { createServer, type Server, type ServerOptions, assemble, type AssembledServer } from "./server.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker.ts";
export { listen, toNodeHandler, type Listening, type ListenOptions } from "./listen.ts";
export { createThreadsServer, startThreadsWorker, type ThreadsServerOptions } from "./threads-server.ts";
