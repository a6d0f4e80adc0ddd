// Holdfast in an application of Fastify's, whose `@fastify/middie` takes handlers of Node's.
import middie from "@fastify/middie";
import Fastify from "fastify";
import { toNodeHandler } from "holdfast/server";
import { server } from "./tide.ts";

const app = Fastify();
await app.register(middie);
app.use("/agent", toNodeHandler(server));
app.post("/echo", (request) => request.body);
await app.listen({ port: 0, host: "127.0.0.1" });

export const http = app.server;
