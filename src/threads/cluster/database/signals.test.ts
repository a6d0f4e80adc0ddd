import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { ask, newDatabase } from "../../../../test/helpers/postgres/database.ts";
import { Signals } from "./signals.ts";

it("a process receives the signals that it subscribes to, and listens to no others", async () => {
  const url = new URL(await newDatabase());
  let sent = "";
  const proxy = createServer((near) => {
    const far = connect(Number(url.port), url.hostname);
    near.on("data", (bytes) => (sent += bytes.toString("latin1")));
    near.pipe(far).pipe(near);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const own = new URL(url);
  own.port = String((proxy.address() as AddressInfo).port);
  const signals = new Signals(own.href);
  await signals.open();
  try {
    const heard = new Promise((resolve) => signals.on("stop", resolve));
    await signals.listening();
    await ask(url.href, "SELECT pg_notify('holdfast_stop', 'now')");
    expect(await heard).toBe("now");
    expect(sent.match(/LISTEN \w+/g)).toEqual(["LISTEN holdfast_stop"]);
  } finally {
    await signals.close();
    proxy.close();
  }
});

it("a connection on which nothing can be heard is closed", async () => {
  const ready = Buffer.from("Z\0\0\0\x05I");
  // Lets everybody in, and refuses all that is asked for.
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(Buffer.concat([Buffer.from("R\0\0\0\x08\0\0\0\0"), ready]));
      socket.on("data", (asked) => {
        const refusal = Buffer.from("E\0\0\0\x10SERROR\0Mno\0\0");
        if (asked.toString().startsWith("Q")) socket.write(Buffer.concat([refusal, ready]));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const signals = new Signals(`postgres://somebody@127.0.0.1:${port}/any`);
  signals.on("stop", () => {});
  await expect(signals.open()).rejects.toThrow("no");
  // Ends when its last connection has.
  await new Promise((resolve) => server.close(resolve));
});
