// `npm start`: the page of the agent, with the model that the environment names.
import { chooseModel } from "holdfast";
import { startServer } from "./server.ts";

const { model, name } = await chooseModel();
const port = Number(process.env["PORT"] ?? 2024);
const { url, token } = await startServer({ model, file: "threads.db", port });
console.log(`${name} answers at ${url}/#token=${token}`);
