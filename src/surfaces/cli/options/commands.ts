import type { Argv } from "yargs";
import type { Terminal } from "../terminal.ts";
import { FORMATS, MODES, PRESETS } from "./choices.ts";
import {
  agentOptions,
  mcpOption,
  modelOptions,
  outputOptions,
  ownAgentOption,
  projectOptions,
  providerArgument,
  sandboxOptions,
  stateOption,
  threadArgument,
} from "./command-options.ts";
import { portNumber, wholeNumber } from "./numbers.ts";
import { queueName, workerOptions } from "./worker-options.ts";

/** A command with its flags, as it was read. Thrown: for a handler that returns yargs draws help that nobody sees. */
export class ChosenCommand {
  /** Returns the exit code. */
  readonly run: (terminal: Terminal) => Promise<number>;

  constructor(run: (terminal: Terminal) => Promise<number>) {
    this.run = run;
  }
}

/** Every command with its options. What a command does is loaded when it is run: help need not wait for LangChain. */
export function commands(parser: Argv): void {
  const on =
    <Flags>(load: () => Promise<(flags: Flags, terminal: Terminal) => Promise<number>>) =>
    (flags: Flags): void => {
      throw new ChosenCommand(async (terminal) => (await load())(flags, terminal));
    };

  parser
    .command(
      "session [task]",
      "Talk with an agent that works on this directory; holdfast alone is the same",
      (args) =>
        agentOptions(modelOptions(stateOption(args)))
          .positional("task", { type: "string", describe: "What to begin with" })
          .option("continue", {
            type: "boolean",
            alias: "c",
            describe: "Go on with the latest thread of this directory",
          })
          .option("resume", { type: "boolean", describe: "Choose a thread of this directory to go on with" })
          .option("plain", { type: "boolean", describe: "Plain lines, as for screen readers" })
          .conflicts("continue", "resume"),
      on(async () => (await import("../commands/session.ts")).session),
    )
    .command(
      "demo",
      "Try everything without a key: a program plays the model on a scratch project",
      (args) =>
        stateOption(args)
          .option("yes", { type: "boolean", alias: "y", describe: "Ask nothing, as one run" })
          .option("serve", { type: "boolean", describe: "On the page, in a browser" })
          .option("make", {
            type: "boolean",
            describe: "Make the scratch project alone, such as for an editor",
          })
          .conflicts({ yes: ["serve", "make"], serve: "make" }),
      on(async () => (await import("../commands/demo.ts")).demo),
    )
    .command(
      "login [provider]",
      "Set up a model: take a provider's key, try it, and keep it; a key may also be piped",
      (args) =>
        providerArgument(args).option("model", {
          type: "string",
          requiresArg: true,
          describe: "The model, without asking",
        }),
      on(async () => (await import("../login/login.ts")).login),
    )
    .command(
      "logout [provider]",
      "Forget the key of a provider, or all",
      (args) => providerArgument(args),
      on(async () => (await import("../login/login.ts")).logout),
    )
    .command(
      "run [task]",
      "Plan and work on a task",
      (args) =>
        ownAgentOption(outputOptions(agentOptions(modelOptions(stateOption(args)))))
          .positional("task", {
            type: "string",
            describe: "What to do, with what is piped to it; - or nothing: the task is piped",
          })
          .option("thread", {
            type: "string",
            describe: "A name for the thread, or a finished thread to go on with",
          })
          .example('$0 run "Survey this directory"', "")
          .example('git log -9 | $0 run "Write release notes"', "")
          .example('$0 run -d . --shell --approve first "Fix the failing test"', ""),
      on(async () => (await import("../commands/run.ts")).run),
    )
    .command(
      "resume [thread]",
      "Go on with a thread where it stopped",
      (args) =>
        ownAgentOption(outputOptions(sandboxOptions(projectOptions(modelOptions(stateOption(args))))))
          .positional("thread", {
            type: "string",
            describe: "Its id or the beginning of it; else the latest unfinished of this directory",
          })
          .option("dir", {
            type: "string",
            requiresArg: true,
            alias: "d",
            describe: "Where the directory is now, when it was moved",
          })
          .option("answer", {
            type: "string",
            requiresArg: true,
            alias: "a",
            coerce: (answers: string | string[] | undefined) =>
              answers === undefined ? undefined : [answers].flat(),
            describe:
              "What it waits for: approve, reject: reason, your words, @file or @-. Once per question",
          }),
      on(async () => (await import("../commands/resume.ts")).resume),
    )
    .command(
      "serve [agent]",
      "Serve a page to work in, and LangGraph's protocol for programs",
      (args) =>
        workerOptions(agentOptions(modelOptions(stateOption(args))))
          .positional("agent", {
            type: "string",
            describe: "A file with a graph of your own (agent.ts, agent.ts:name), or a langgraph.json",
          })
          .option("port", {
            type: "number",
            requiresArg: true,
            default: 2024,
            describe: "The port; 0 takes any that is free",
            coerce: portNumber,
          })
          .option("host", {
            type: "string",
            requiresArg: true,
            default: "127.0.0.1",
            describe: "The address to listen on; another than this machine's own needs a token",
          })
          .option("open", { type: "boolean", describe: "Open the page in a browser" })
          .option("token", {
            type: "string",
            requiresArg: true,
            describe: "What clients must send ($HOLDFAST_TOKEN, or a new one at each start)",
          })
          .option("allow-origin", {
            type: "string",
            requiresArg: true,
            array: true,
            describe: "A site whose pages may use the server, such as https://chat.example.com",
          })
          .option("allow-host", {
            type: "string",
            requiresArg: true,
            array: true,
            describe: "A name that the server is reached by, such as the one of a proxy",
          })
          .option("work", {
            type: "boolean",
            default: true,
            describe: "With a database: do runs, too; --no-work leaves them to holdfast worker",
          })
          .example("$0 serve --dir . --open", "")
          .example("$0 serve ./agent.ts", "The page for an agent of your own"),
      on(async () => (await import("../commands/servers/serve.ts")).serve),
    )
    .command(
      "acp",
      "Be an agent for editors, such as Zed and JetBrains, by the Agent Client Protocol",
      (args) =>
        sandboxOptions(modelOptions(stateOption(args)))
          .option("mode", { choices: MODES, describe: "How much a new session asks (default ask)" })
          .option("preset", { choices: PRESETS, describe: "How the agent plans (default lean)" })
          .option("web", { type: "boolean", describe: "Let the agent read pages, as in run" })
          .option("background", { type: "boolean", describe: "Let sub-agents work while the agent goes on" })
          .option("install", {
            type: "boolean",
            describe: "Add it to the settings of Zed, and say what to add elsewhere",
          })
          .option("setup", { type: "boolean", describe: "Say what a model lacks, as doctor does" }),
      on(async () => (await import("../commands/servers/acp.ts")).acp),
    )
    .command(
      "mcp",
      "Be a server of the Model Context Protocol: threads as tools for other agents",
      (args) =>
        agentOptions(modelOptions(stateOption(args))).example(
          "claude mcp add holdfast -- $0 mcp --dir .",
          "",
        ),
      on(async () => (await import("../commands/servers/mcp.ts")).mcp),
    )
    .command(
      "worker",
      "Do the runs that servers on the same database are asked for",
      (args) =>
        workerOptions(agentOptions(modelOptions(stateOption(args)))).example("$0 worker --database $URL", ""),
      on(async () => (await import("../commands/servers/worker.ts")).worker),
    )
    .command(
      "migrate",
      "Make the tables of a database, or bring them up to date, with a user that may",
      (args) =>
        stateOption(args)
          .option("role", { type: "string", describe: "Let this user use them, who may make none" })
          .example("$0 migrate --database $OWNERS_URL --role app", ""),
      on(async () => (await import("../commands/servers/migrate.ts")).migrate),
    )
    .command(
      "status",
      "Show the workers, the queue and the runs of a database",
      (args) =>
        stateOption(args)
          .option("watch", { type: "boolean", describe: "Again and again, until Ctrl-C" })
          .option("json", { type: "boolean", describe: "One JSON object per line" }),
      on(async () => (await import("../commands/servers/status.ts")).status),
    )
    .command(
      "schedule [cron] [task]",
      "Start a task again and again, by `holdfast serve` or workers; without one list what is scheduled",
      (args) =>
        agentOptions(modelOptions(stateOption(args)))
          .positional("cron", { type: "string", describe: 'When, in UTC, such as "0 9 * * 1-5"' })
          .positional("task", { type: "string", describe: "What to do" })
          .option("thread", {
            type: "string",
            describe: "Go on with this thread, not with a new one each time",
          })
          .option("queue", {
            type: "string",
            requiresArg: true,
            coerce: queueName,
            describe: "Let workers do it that take from this queue",
          })
          .option("remove", { type: "string", requiresArg: true, describe: "The id of a schedule to end" })
          .option("json", { type: "boolean", describe: "One JSON object per line" }),
      on(async () => (await import("../commands/threads/schedule.ts")).schedule),
    )
    .command(
      "threads",
      "List threads with state, progress and directory",
      (args) =>
        stateOption(args)
          .option("limit", {
            type: "number",
            requiresArg: true,
            default: 20,
            describe: "Show at most so many",
            coerce: wholeNumber("limit")<number>,
          })
          .option("all", { type: "boolean", describe: "All of them, however many" })
          .option("here", { type: "boolean", describe: "Only those of this directory" })
          .option("json", { type: "boolean", describe: "One JSON object per line" }),
      on(async () => (await import("../commands/threads/threads.ts")).threads),
    )
    .command(
      "show <thread>",
      "Print the plan of a thread, its answer or its files",
      (args) =>
        threadArgument(stateOption(args))
          .option("format", { choices: FORMATS, default: "checklist" as const, describe: "How to print it" })
          .option("answer", { type: "boolean", describe: "The agent's last answer instead" })
          .option("transcript", { type: "boolean", describe: "The whole conversation instead, as Markdown" })
          .option("json", {
            type: "boolean",
            describe:
              "Every event of the thread instead, with arguments and results, one JSON object per line",
          })
          .option("files", { type: "boolean", describe: "The files that live in the thread instead" })
          .option("file", { type: "string", requiresArg: true, describe: "One of these files instead" }),
      on(async () => (await import("../commands/threads/show.ts")).show),
    )
    .command("plan", "Change the plan of a thread", (plan) =>
      plan
        .command(
          "edit <thread>",
          "Open the plan in $EDITOR, check it and apply it",
          (args) => threadArgument(stateOption(args)),
          on(async () => (await import("../commands/threads/plan-edit.ts")).planEdit),
        )
        .demandCommand(1, "Say what to do with the plan: holdfast plan edit <thread>."),
    )
    .command(
      "export <thread> [file]",
      "Make one HTML file of a thread: plan, timeline, conversation, diffs, cost; or .md, .json",
      (args) =>
        threadArgument(stateOption(args))
          .positional("file", {
            type: "string",
            describe:
              "The new file: .html, .md or .json; <thread>.html in this directory, - for standard output",
          })
          .option("force", { type: "boolean", describe: "Replace the file if it is there" }),
      on(async () => (await import("../commands/threads/export.ts")).exportThread),
    )
    .command(
      "say <thread> <words>",
      "Tell something to the agent at work on a thread, in any process; it reads it at its next call",
      (args) =>
        stateOption(args)
          .positional("thread", { type: "string", demandOption: true, describe: "A thread at work" })
          .positional("words", { type: "string", demandOption: true, describe: "The message" }),
      on(async () => (await import("../commands/threads/say.ts")).say),
    )
    .command(
      "undo <thread>",
      "Take back the last message of a thread, and the files that the agent wrote for it",
      (args) =>
        stateOption(args).positional("thread", {
          type: "string",
          demandOption: true,
          describe: "Its id, or the beginning of it",
        }),
      on(async () => (await import("../commands/threads/undo.ts")).undo),
    )
    .command(
      "rm <threads..>",
      "Delete threads",
      (args) =>
        stateOption(args).positional("threads", {
          type: "string",
          array: true,
          demandOption: true,
          describe: "Their ids or the beginnings of them",
        }),
      on(async () => (await import("../commands/threads/rm.ts")).rm),
    )
    .command(
      "backup [file]",
      "Copy all threads into another file, also while runs go on",
      (args) =>
        stateOption(args).positional("file", {
          type: "string",
          describe: "The new file; with the time in its name beside the old one",
        }),
      on(async () => (await import("../commands/store/backup.ts")).backup),
    )
    .command(
      "check",
      "Read all threads from end to end and say what is damaged",
      (args) => stateOption(args),
      on(async () => (await import("../commands/store/check.ts")).check),
    )
    .command(
      "repair",
      "Save what can be saved of damaged threads into a new file",
      (args) => stateOption(args),
      on(async () => (await import("../commands/store/repair.ts")).repair),
    )
    .command(
      "doctor",
      "Test the model, servers and storage, and say what to do",
      (args) =>
        mcpOption(stateOption(args))
          .option("ask", {
            type: "boolean",
            describe: "Also ask the model something, which may cost a little",
          })
          .option("json", { type: "boolean", describe: "One JSON object per line" }),
      on(async () => (await import("../commands/doctor.ts")).doctor),
    )
    .command(
      "trust [folder]",
      "Say yes to the files by which a project tells agents how to work; without a folder, list those trusted",
      (args) =>
        args
          .positional("folder", { type: "string", describe: "A folder of the project, such as ." })
          .option("revoke", { type: "boolean", describe: "Take it back" }),
      on(async () => (await import("../commands/trust.ts")).trust),
    )
    .command(
      "completion [shell]",
      "Print a script that completes commands, flags and threads",
      (args) =>
        args
          .positional("shell", { type: "string", describe: "bash or zsh (default: yours)" })
          .example("$0 completion bash >> ~/.bashrc", "")
          .example("$0 completion zsh >> ~/.zshrc", ""),
      on(async () => (await import("../commands/completion.ts")).completion),
    );
}
