import { version } from "../../../../version.ts";
import { serveAcp } from "../../../acp/index.ts";
import { ownOutput } from "../../editors/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { Interruption } from "../../interruption.ts";
import type { Terminal } from "../../terminal.ts";
import type { AcpFlags } from "./editor-sessions.ts";

/** `holdfast acp`: an agent for editors over standard input and output, until the editor disconnects. */
export async function acp(flags: AcpFlags, terminal: Terminal): Promise<number> {
  if (flags.install) return (await import("../../editors/install-editors.ts")).installEditors(terminal);
  if (flags.setup) return (await import("../doctor.ts")).doctor(flags, terminal);
  const output = ownOutput(terminal);
  const interruption = new Interruption(terminal.stdout);
  let close = async (): Promise<void> => {};
  try {
    await serveAcp({
      input: terminal.stdin,
      output,
      signal: interruption.signal,
      version: version(),
      // The code that runs agents is loaded with the first session.
      open: async (editor) => {
        const { openSessions } = await import("./editor-sessions.ts");
        const editorSessions = await openSessions(flags, terminal, editor);
        ({ close } = editorSessions);
        return editorSessions.sessions;
      },
    });
    return EXIT.done;
  } finally {
    interruption.dispose();
    await close();
  }
}
