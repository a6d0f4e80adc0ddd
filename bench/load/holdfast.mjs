import { sqliteSaver } from "../../dist/storage/index.js";
// Our server as a process of its own: node holdfast.mjs <file of the threads>. Prints its address and token.
import { createServer, listen } from "../../dist/surfaces/server/index.js";
import { control, speaker } from "./graph.mjs";

const server = await createServer({
  graphs: { speaker, control },
  checkpointer: await sqliteSaver(process.argv[2]),
});
const { url } = await listen(server, { port: 0, hostname: "127.0.0.1" });
console.log(JSON.stringify({ url, token: server.token }));
