import { Writable } from "node:stream";
import type { Terminal } from "./terminal.ts";

/**
 * Takes standard output for a protocol between programs. Whatever else is written there from now on, by whatever code,
 * goes to standard error: one stray line would end the conversation.
 */
export function ownOutput({ stdout, stderr }: Terminal): Writable {
  const write = stdout.write.bind(stdout) as unknown as NodeJS.WriteStream["write"];
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, (error) => done(error)),
  });
}
