import type { Terminal } from "./terminal.ts";

type Completion = (
  current: string,
  argv: { _: (string | number)[]; state?: string },
  defaults: (onDone: (error: Error | null, words: string[] | undefined) => void) => void,
  done: (words: string[]) => void,
) => void;

const TAKE_THREAD = new Set(["resume", "show", "rm", "plan"]);

/** What a shell offers: commands and options, and the ids of threads where one is expected. */
export function completions(terminal: Terminal): Completion {
  return (current, argv, defaults, done) => {
    defaults((_error, words = []) => {
      // The first word is the program's own name.
      const command = argv._.map(String).find((word) => TAKE_THREAD.has(word));
      const takesThread = command !== undefined && !current.startsWith("-");
      void offer(words, takesThread ? threadIds(argv.state, terminal) : Promise.resolve([]), done);
    });
  };
}

async function offer(
  words: readonly string[],
  ids: Promise<string[]>,
  done: (words: string[]) => void,
): Promise<void> {
  done([...words, ...(await ids)]);
}

async function threadIds(state: string | undefined, terminal: Terminal): Promise<string[]> {
  try {
    const { statePath, withSaver } = await import("./threads.ts");
    const list = await withSaver(statePath(state, terminal), (saver) => saver.listThreads());
    return list.map(({ id }) => id);
  } catch {
    // Completion has no place to say what is wrong; the command will.
    return [];
  }
}
