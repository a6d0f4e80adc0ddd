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
try {
  const { url, token } = await startServer({ model, file: "threads.db", port });
  console.log(`${name} answers at ${url}/#token=${token}`);
} catch (error) {
  if (!isPortInUse(error)) throw error;
  console.error(`Port ${port} is in use. Name another one in the variable PORT, such as PORT=${port + 1}.`);
  process.exitCode = 1;
}

/** Whether an error, or a cause of it, says that another program listens at the port. */
function isPortInUse(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown };
  return code === "EADDRINUSE" || (cause !== undefined && isPortInUse(cause));
}
