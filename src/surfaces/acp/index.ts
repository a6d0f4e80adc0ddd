import { Readable, Writable } from "node:stream";
import { acpApp, type AcpOptions } from "./app.ts";
import { loadSdk } from "./sdk.ts";

export { type ConnectedEditor, Sessions } from "./session/sessions.ts";

export interface ServeAcpOptions extends Omit<AcpOptions, "sdk"> {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/** Serves the Agent Client Protocol until the editor disconnects, and then stops runs at the end of their step. */
export async function serveAcp({ input, output, signal, ...options }: ServeAcpOptions): Promise<void> {
  const sdk = await loadSdk();
  const { app, close } = acpApp({ ...options, sdk });
  const connection = app.connect(
    sdk.ndJsonStream(
      Writable.toWeb(output as Writable) as WritableStream<Uint8Array>,
      Readable.toWeb(input as Readable) as ReadableStream<Uint8Array>,
    ),
  );
  signal.addEventListener("abort", () => connection.close(), { once: true });
  await connection.closed;
  await close();
}
