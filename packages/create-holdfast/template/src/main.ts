// `npm start`: the page of the agent, with the model that the environment names.
import { chooseModel } from "holdfast";
import { startServer } from "./server.ts";

// Without a key, the program "demo" answers, so that you can look at the page.
const { model, name } = await chooseModel().catch((error: Error & { code?: string }) => {
  if (error.code !== "no-model") throw error;
  console.error(`${error.message}\nUntil then the program "demo" answers.\n`);
  return chooseModel({ model: "demo" });
});
const port = Number(process.env["PORT"] ?? 2024);
const { url, token } = await startServer({ model, file: "threads.db", port });
console.log(`${name} answers at ${url}/#token=${token}`);
