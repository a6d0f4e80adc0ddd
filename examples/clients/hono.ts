// Holdfast in an application of Hono's: a server is a fetch handler.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { server } from "./tide.ts";

const app = new Hono();
app.post("/echo", async (c) => c.json(await c.req.json()));
app.mount("/agent", server.fetch);

export const http = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
