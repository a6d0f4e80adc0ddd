import { Writable } from "node:stream";
import { exact } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Takes standard output for a protocol between programs. Whatever else is written there from now on, by whatever code,
 * goes to standard error: one stray line would end the conversation.
 */
export function ownOutput({ stdout, stderr }: Terminal): Writable {
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const decoder = new TextDecoder();
  return new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      const isTaken = write(exact(decoder.decode(chunk, { stream: true }), stdout));
      if (isTaken === false) stdout.once("drain", () => done());
      else done();
    },
  });
}
