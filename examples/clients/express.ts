// Holdfast in an application of Express's: before `express.json()`, or after it, when the body has been read.
import express from "express";
import { toNodeHandler } from "holdfast/server";
import { server } from "./tide.ts";

const app = express();
app.use("/early", toNodeHandler(server));
app.use(express.json());
app.post("/echo", (request, response) => void response.json(request.body));
app.use("/agent", toNodeHandler(server));

export const http = app.listen(0, "127.0.0.1");
