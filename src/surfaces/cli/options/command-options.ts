import type { Argv } from "yargs";
import { APPROVALS, EFFORTS, MODES, PRESETS, SANDBOXES } from "./choices.ts";
import { wholeNumber } from "./numbers.ts";

export const EXIT_CODES = `Exit codes: 0 done, 1 failed, 2 usage, 3 stopped with open items or waiting for an answer,
130 interrupted.`;

export function stateOption<T>(args: Argv<T>) {
  return args
    .option("state", {
      type: "string",
      requiresArg: true,
      describe: "The file that threads are kept in ($HOLDFAST_STATE, or your state directory)",
    })
    .option("database", {
      type: "string",
      requiresArg: true,
      describe: "A Postgres database instead, postgres://… ($HOLDFAST_DATABASE_URL)",
    });
}

export function mcpOption<T>(args: Argv<T>) {
  return args.option("mcp-config", {
    type: "string",
    requiresArg: true,
    coerce: (files: string | string[] | undefined) => (files === undefined ? undefined : [files].flat()),
    describe: "A file with MCP servers, such as .mcp.json; calls that do not only read are asked for",
  });
}

export function threadArgument<T>(args: Argv<T>) {
  return args.positional("thread", {
    type: "string",
    demandOption: true,
    describe: "Its id or the beginning of it",
  });
}

export function providerArgument<T>(args: Argv<T>) {
  return args.positional("provider", {
    type: "string",
    describe: "Its name in front of a model's, such as anthropic or ollama",
  });
}

export function modelOptions<T>(args: Argv<T>) {
  return args
    .option("model", {
      type: "string",
      requiresArg: true,
      alias: "m",
      describe: "provider:name, offline or demo ($HOLDFAST_MODEL, or the first provider with a key)",
    })
    .option("effort", {
      choices: EFFORTS,
      describe: "How much the model thinks, where it can be told",
    })
    .option("max-turns", {
      type: "number",
      describe: "Stop after so many turns, sub-agents' included; resume goes on",
      coerce: wholeNumber("max-turns")<number | undefined>,
    })
    .option("budget", {
      type: "string",
      requiresArg: true,
      describe:
        "Stop after tokens=200000,cost=5,minutes=30 (item-tokens and so on for one item); resume goes on",
    })
    .option("timeout", {
      type: "number",
      describe: "Give up a model that is silent for so many seconds ($HOLDFAST_TIMEOUT, or 300)",
      coerce: wholeNumber("timeout")<number | undefined>,
    });
}

/** Flags for project files. */
export function projectOptions<T>(args: Argv<T>) {
  return args
    .option("project", {
      type: "boolean",
      describe:
        "Read AGENTS.md, skills and settings of a trusted project, the default; --no-project does not",
    })
    .option("trust-project", {
      type: "boolean",
      describe: "Say that the project in the directory is trusted, as holdfast trust does",
    });
}

/** Flags for the isolation of commands. */
export function sandboxOptions<T>(args: Argv<T>) {
  return args
    .option("sandbox", {
      choices: SANDBOXES,
      describe: "Isolate commands where that works, always, or never (default auto)",
    })
    .option("network", {
      type: "boolean",
      describe: "Let commands reach the network, where they are isolated",
    });
}

export function ownAgentOption<T>(args: Argv<T>) {
  return args.option("agent", {
    type: "string",
    requiresArg: true,
    describe: "A file with a graph of your own (agent.ts, agent.ts:name), in the place of Holdfast's agent",
  });
}

/** Flags for the agent of a thread. */
export function agentOptions<T>(args: Argv<T>) {
  return mcpOption(sandboxOptions(projectOptions(args)))
    .option("mode", {
      choices: MODES,
      describe:
        "How much to ask: before a plan is begun, writes and commands, commands, nothing (default edits)",
    })
    .option("dir", {
      type: "string",
      requiresArg: true,
      alias: "d",
      describe:
        "Work on the files of this directory; a session and run: the present one, unless --no-dir keeps them in the thread",
    })
    .option("shell", {
      type: "boolean",
      describe: "Let the agent run commands in --dir",
    })
    .option("background", {
      type: "boolean",
      describe: "Let sub-agents work while the agent goes on",
    })
    .option("web", {
      type: "boolean",
      describe:
        "Let the agent read pages, and search where $TAVILY_API_KEY, $EXA_API_KEY or $BRAVE_API_KEY is",
    })
    .option("preset", { choices: PRESETS, describe: "How the agent plans (default lean)" })
    .option("plan", {
      type: "boolean",
      describe: "Plan, which is the default; --no-plan leaves it out",
    })
    .option("approve", {
      choices: APPROVALS,
      describe: "Ask before the first plan, or before every change of scope (default never)",
    })
    .option("ask", {
      type: "string",
      requiresArg: true,
      describe: "What needs your consent in every mode: tools or execute(git push*), separated by commas",
      coerce: (names: string | string[] | undefined) =>
        names === undefined
          ? undefined
          : [names]
              .flat()
              .flatMap((list) => list.split(/,(?![^(]*\))/))
              .map((name) => name.trim())
              .filter(Boolean),
    })
    .option("yes", {
      type: "boolean",
      alias: "y",
      describe: "The same as --mode auto, and forgets what --ask has asked for",
    });
}

export function outputOptions<T>(args: Argv<T>) {
  return args
    .epilogue(EXIT_CODES)
    .option("json", { type: "boolean", describe: "Print events as lines of JSON" })
    .option("quiet", { type: "boolean", alias: "q", describe: "Print only the answer" })
    .conflicts("json", "quiet");
}
