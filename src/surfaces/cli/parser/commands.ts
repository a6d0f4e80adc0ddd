import type { Argv } from "yargs";
import {
  FORMATS,
  ACP_FLAGS,
  count,
  EXIT_CODES,
  flag,
  JSON_LINES,
  MCP_FLAGS,
  PROVIDER,
  DATABASE_FLAGS,
  DATABASE_RUNNING_FLAGS,
  RESUME_FLAGS,
  RUN_FLAGS,
  RUNNING_FLAGS,
  STATE_FLAGS,
  text,
  THREAD,
  word,
  queueName,
  SCHEDULE_FLAGS,
  WORKER_FLAGS,
} from "../options/index.ts";
import type { Terminal } from "../terminal.ts";

/** A parsed command with its flags. It is thrown, as yargs renders the help after a handler that returns. */
export class ChosenCommand {
  /** Returns the exit code. */
  readonly run: (terminal: Terminal) => Promise<number>;

  constructor(run: (terminal: Terminal) => Promise<number>) {
    this.run = run;
  }
}

/** Declares every command with its options. A command is loaded when it runs, so that help does not load LangChain. */
export function commands(parser: Argv): void {
  const on =
    <Flags>(load: () => Promise<(flags: Flags, terminal: Terminal) => Promise<number>>) =>
    (flags: Flags): void => {
      throw new ChosenCommand(async (terminal) => (await load())(flags, terminal));
    };

  parser
    .command(
      "session [task]",
      "Start a session in this directory, as holdfast without a command does",
      (args) =>
        args
          .options(RUNNING_FLAGS)
          .positional("task", word("The first task"))
          .option("continue", { ...flag("Continue the latest thread of this directory"), alias: "c" })
          .option("resume", flag("Choose a thread of this directory to continue"))
          .option("thread", text("Continue this thread, by its id or the beginning of it"))
          .option("plain", flag("Plain lines, such as for screen readers"))
          .conflicts({ continue: ["resume", "thread"], resume: "thread" }),
      on(async () => (await import("../commands/session.ts")).session),
    )
    .command(
      "demo",
      "Try everything without a key: a scripted model works on a scratch project",
      (args) =>
        args
          .options(STATE_FLAGS)
          .option("yes", { ...flag("Ask nothing, in a single run"), alias: "y" })
          .option("serve", flag("Use the page, in a browser"))
          .option("make", flag("Only create the scratch project, such as for an editor"))
          .conflicts({ yes: ["serve", "make"], serve: "make" }),
      on(async () => (await import("../commands/demo.ts")).demo),
    )
    .command(
      "login [provider]",
      "Set up a model: a provider's key is tested and stored; it can also be piped",
      (args) =>
        args.positional("provider", PROVIDER).option("model", text("The model; by default you are asked")),
      on(async () => (await import("../login/login.ts")).login),
    )
    .command(
      "logout [provider]",
      "Delete the key of a provider, or all keys",
      (args) => args.positional("provider", PROVIDER),
      on(async () => (await import("../login/login.ts")).logout),
    )
    .command(
      "run [task]",
      "Plan and work on a task",
      (args) =>
        args
          .options(RUN_FLAGS)
          .epilogue(EXIT_CODES)
          .positional(
            "task",
            word("The task, followed by piped text; with - or without a task, the piped text is the task"),
          )
          .option("thread", word("A name for the thread, or a finished thread to continue"))
          .example('$0 run "Survey this directory"', "")
          .example('git log -9 | $0 run "Write release notes"', "")
          .example('$0 run -d . --shell --approve first "Fix the failing test"', ""),
      on(async () => (await import("../commands/run.ts")).run),
    )
    .command(
      "resume [thread]",
      "Continue a thread where it stopped",
      (args) =>
        args
          .options(RESUME_FLAGS)
          .epilogue(EXIT_CODES)
          .positional(
            "thread",
            word("Its id or the beginning of it; by default the latest unfinished thread of this directory"),
          ),
      on(async () => (await import("../commands/resume.ts")).resume),
    )
    .command(
      "serve [agent]",
      "Serve a page for users, and LangGraph's protocol for programs",
      (args) =>
        args
          .options({ ...RUNNING_FLAGS, ...WORKER_FLAGS })
          .positional(
            "agent",
            word("A file with your own graph (agent.ts, agent.ts:name), or a langgraph.json"),
          )
          .option("port", {
            type: "number",
            requiresArg: true,
            default: 2024,
            describe: "The port; 0 chooses a free one",
            coerce: portNumber,
          })
          .option("host", {
            ...text("The address to listen on; an address that other machines reach needs a token"),
            default: "127.0.0.1",
          })
          .option("open", flag("Open the page in a browser"))
          .option("token", text("The token of clients ($HOLDFAST_TOKEN, or a new one at each start)"))
          .option("allow-origin", {
            ...text("An origin that may use the server, such as https://chat.example.com"),
            array: true,
          })
          .option("allow-host", {
            ...text("A host name of the server, such as the one of a proxy"),
            array: true,
          })
          .option("work", {
            ...flag("With a database: execute runs, too; --no-work leaves them to holdfast worker"),
            default: true,
          })
          .example("$0 serve --dir . --open", "")
          .example("$0 serve ./agent.ts", "The page for an agent of your own"),
      on(async () => (await import("../commands/servers/serve.ts")).serve),
    )
    .command(
      "acp",
      "Start an agent for editors, such as Zed and JetBrains, with the Agent Client Protocol",
      (args) => args.options(ACP_FLAGS),
      on(async () => (await import("../commands/servers/acp.ts")).acp),
    )
    .command(
      "mcp",
      "Start a server of the Model Context Protocol, with threads as tools for other agents",
      (args) => args.options(RUNNING_FLAGS).example("claude mcp add holdfast -- $0 mcp --dir .", ""),
      on(async () => (await import("../commands/servers/mcp.ts")).mcp),
    )
    .command(
      "worker",
      "Execute the runs that servers on the same database accept",
      (args) =>
        args.options({ ...DATABASE_RUNNING_FLAGS, ...WORKER_FLAGS }).example("$0 worker --database $URL", ""),
      on(async () => (await import("../commands/servers/worker.ts")).worker),
    )
    .command(
      "migrate",
      "Create or update the tables of a database, as a user with that right",
      (args) =>
        args
          .options(DATABASE_FLAGS)
          .option("role", word("Let this role use the tables, which cannot create any"))
          .example("$0 migrate --database $OWNERS_URL --role app", ""),
      on(async () => (await import("../commands/servers/migrate.ts")).migrate),
    )
    .command(
      "status",
      "Show the workers, the queue and the runs of a database",
      (args) =>
        args.options(DATABASE_FLAGS).option("watch", flag("Repeat until Ctrl-C")).option("json", JSON_LINES),
      on(async () => (await import("../commands/servers/status.ts")).status),
    )
    .command(
      "schedule [cron] [task]",
      "Schedule a task for `holdfast serve` or workers; without one, list the schedules",
      (args) =>
        args
          .options(SCHEDULE_FLAGS)
          .positional("cron", word('When, such as "0 9 * * 1-5"'))
          .positional("task", word("What to do"))
          .option("thread", word("Continue this thread, instead of a new one each time"))
          .option("queue", { ...text("The queue of the workers that execute it"), coerce: queueName })
          .option("timezone", text("The time zone of the schedule, such as Europe/Paris (default UTC)"))
          .option("remove", text("The id of a schedule to remove"))
          .option("json", JSON_LINES),
      on(async () => (await import("../commands/threads/schedule.ts")).schedule),
    )
    .command(
      "threads",
      "List threads with state, progress and directory",
      (args) =>
        args
          .options(STATE_FLAGS)
          .option("limit", {
            ...count<number>("limit", "The most threads to list"),
            requiresArg: true,
            default: 20,
          })
          .option("all", flag("All threads"))
          .option("here", flag("Only those of this directory"))
          .option("json", JSON_LINES),
      on(async () => (await import("../commands/threads/threads.ts")).threads),
    )
    .command(
      "show <thread>",
      "Print the plan of a thread, its answer or its files",
      (args) =>
        args
          .options(STATE_FLAGS)
          .positional("thread", THREAD)
          .option("format", { choices: FORMATS, default: "checklist" as const, describe: "How to print it" })
          .option("answer", flag("The agent's last answer instead"))
          .option("transcript", flag("The whole conversation instead, as Markdown"))
          .option(
            "json",
            flag("Every event of the thread instead, with arguments and results, one JSON object per line"),
          )
          .option("files", flag("The files that live in the thread instead"))
          .option("file", text("One of these files instead")),
      on(async () => (await import("../commands/threads/show.ts")).show),
    )
    .command("plan", "Change the plan of a thread", (plan) =>
      plan
        .command(
          "edit <thread>",
          "Open the plan in $EDITOR, check it and apply it",
          (args) => args.options(STATE_FLAGS).positional("thread", THREAD),
          on(async () => (await import("../commands/threads/plan-edit.ts")).planEdit),
        )
        .demandCommand(1, "Say what to do with the plan: holdfast plan edit <thread>."),
    )
    .command(
      "export <thread> [file]",
      "Write a thread to one HTML file: plan, timeline, conversation, diffs, cost; or .md, .json",
      (args) =>
        args
          .options(STATE_FLAGS)
          .positional("thread", THREAD)
          .positional(
            "file",
            word(
              "The new file (.html, .md, .json), - for standard output; by default <thread>.html in this directory",
            ),
          )
          .option("force", flag("Replace an existing file")),
      on(async () => (await import("../commands/threads/export.ts")).exportThread),
    )
    .command(
      "say <thread> <words>",
      "Send a message to the agent that works on a thread, in any process; the agent reads it at its next call",
      (args) =>
        args
          .options(STATE_FLAGS)
          .positional("thread", { ...word("A thread whose agent works"), demandOption: true })
          .positional("words", { ...word("The message"), demandOption: true }),
      on(async () => (await import("../commands/threads/say.ts")).say),
    )
    .command(
      "undo <thread>",
      "Take back the last message of a thread, and the files that the agent wrote for it",
      (args) => args.options(STATE_FLAGS).positional("thread", THREAD),
      on(async () => (await import("../commands/threads/undo.ts")).undo),
    )
    .command(
      "rm [threads..]",
      "Delete threads",
      (args) =>
        args
          .options(STATE_FLAGS)
          .positional("threads", { ...word("Their ids or the beginnings of them"), array: true })
          .option("unused-for", {
            ...count("unused-for", "Also those unused for this many days"),
            requiresArg: true,
          }),
      on(async () => (await import("../commands/threads/rm.ts")).rm),
    )
    .command(
      "backup [file]",
      "Copy all threads into another file, also during runs",
      (args) =>
        args
          .options(STATE_FLAGS)
          .positional("file", word("The new file; by default in the same folder, with the time in its name")),
      on(async () => (await import("../commands/store/backup.ts")).backup),
    )
    .command(
      "check",
      "Read all threads completely and report damage",
      (args) => args.options(STATE_FLAGS),
      on(async () => (await import("../commands/store/check.ts")).check),
    )
    .command(
      "repair",
      "Recover damaged threads into a new file",
      (args) => args.options(STATE_FLAGS),
      on(async () => (await import("../commands/store/repair.ts")).repair),
    )
    .command(
      "doctor",
      "Test the model, servers and storage, and say how to fix them",
      (args) =>
        args
          .options({ ...STATE_FLAGS, ...MCP_FLAGS })
          .option("ask", flag("Also ask the model a question, which may cost a little"))
          .option("json", JSON_LINES),
      on(async () => (await import("../commands/doctor.ts")).doctor),
    )
    .command(
      "trust [folder]",
      "Trust the files by which a project tells agents how to work; without a folder, list trusted folders",
      (args) =>
        args
          .positional("folder", word("A folder of the project, such as ."))
          .option("revoke", flag("Revoke the trust")),
      on(async () => (await import("../commands/trust.ts")).trust),
    )
    .command(
      "completion [shell]",
      "Print a script that completes commands, flags and threads",
      (args) =>
        args
          .positional("shell", word("bash, zsh, fish or powershell (default: yours)"))
          .example("$0 completion bash >> ~/.bashrc", "")
          .example("$0 completion zsh >> ~/.zshrc", ""),
      on(async () => (await import("../commands/completion.ts")).completion),
    );
}

function portNumber(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Error("--port is a number from 0 to 65535.");
}
