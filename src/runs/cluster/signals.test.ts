import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { Signals } from "./signals.ts";

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
  await expect(signals.open()).rejects.toThrow("no");
  // Ends when its last connection has.
  await new Promise((resolve) => server.close(resolve));
});
