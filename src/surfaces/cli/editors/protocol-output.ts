import { Writable } from "node:stream";
import { exact } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Reserves standard output for a protocol between programs. All other output goes to standard error from now on, as a
 * stray line would break the protocol.
 */
export function ownOutput({ stdout, stderr }: Terminal): Writable {
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const decoder = new TextDecoder();
  return new Writable({
    write: (chunk: Uint8Array, _encoding, callback) => {
      const canContinue = write(exact(decoder.decode(chunk, { stream: true }), stdout));
      if (canContinue === false) stdout.once("drain", () => callback());
      else callback();
    },
  });
}
