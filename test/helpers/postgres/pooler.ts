import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { Client } from "pg";

/** A pooler in transaction mode, as PgBouncer is: a connection of the server is lent for one transaction at a time. */
export async function startPooler(url: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const free: Socket[] = [];
  const backends: Client[] = [];
  const clients = new Set<Socket>();
  const borrow = async (): Promise<Socket> => {
    // The one that was used last, as PgBouncer does.
    const known = free.pop();
    if (known) return known;
    const backend = new Client({ connectionString: url });
    backend.on("error", () => {});
    await backend.connect();
    backends.push(backend);
    const { stream } = (backend as unknown as { connection: { stream: Socket } }).connection;
    stream.removeAllListeners("data");
    return stream;
  };
  const server = createServer((client) => {
    clients.add(client);
    client.on("error", () => {});
    let backend: Socket | undefined;
    let isStarted = false;
    let turn = Promise.resolve();
    const answer = (bytes: Buffer): void => {
      client.write(bytes);
      // A ReadyForQuery outside of a transaction ends the loan.
      if (!bytes.subarray(-6).equals(READY)) return;
      backend!.removeListener("data", answer);
      free.push(backend!);
      backend = undefined;
    };
    const forward = async (bytes: Buffer): Promise<void> => {
      if (!isStarted) {
        isStarted = true;
        client.write(Buffer.concat([LET_IN, READY]));
        return;
      }
      // Terminate is the client's own.
      if (bytes[0] === 0x58) return void client.end();
      if (!backend) {
        backend = await borrow();
        backend.on("data", answer);
      }
      backend.write(bytes);
    };
    client.on("data", (bytes) => void (turn = turn.then(() => forward(bytes))));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const pooled = new URL(url);
  pooled.port = String((server.address() as AddressInfo).port);
  const stop = async (): Promise<void> => {
    server.close();
    for (const client of clients) client.destroy();
    for (const backend of backends) {
      (backend as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
    }
  };
  return { url: pooled.href, stop };
}

const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const LET_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
