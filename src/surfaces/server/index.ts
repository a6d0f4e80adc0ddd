export type { Auth, User } from "./http/access.ts";
export type { GraphFactory, GraphSource, ServedGraph } from "./graphs.ts";
export { createServer, type Server, type ServerOptions } from "./server.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker.ts";
export { listen, toNodeHandler, type Listening, type ListenOptions } from "./listen.ts";
