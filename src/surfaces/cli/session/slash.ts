import { resolve } from "node:path";
import type { Project } from "../../../project/index.ts";
import { replay } from "../../../threads/record/index.ts";
import { commandIn } from "../../../threads/run/index.ts";
import { oneLine, padded, shown } from "../output/index.ts";
import { threadFile, threadText, writeNew } from "../threads/index.ts";
import type { SlashCommand } from "./conversation.ts";
import { mcp } from "./slash/mcp.ts";
import { plan } from "./slash/plan.ts";
import { allow, compact, cost, effort, login, mode, model, tools } from "./slash/settings.ts";
import { fork, fresh, goOn, resume, threads, undo } from "./slash/threads.ts";

const KEYS = [
  "Enter sends, Alt-Enter, Ctrl-J or \\ and Enter begin a line; @ completes a file, / a command, ↑ what was typed before",
  "while the agent works: what you send is queued; Enter on an empty line hands it over at its next call; ↑ takes it back",
  "Esc or Ctrl-C stops, twice leaves; Ctrl-O shows the last call or thoughts in full; Shift-Tab changes the mode; Ctrl-Z suspends",
];

const help: SlashCommand = {
  name: "help",
  about: "this list",
  isBeside: true,
  run: async (_args, { say, paint, project }) => {
    const skills = project.skills.map(({ name, description }) => ({ name, about: description, usage: "" }));
    say(
      ...[...SLASH_COMMANDS, ...skills].map(
        ({ name, usage = "", about }) => shown`${padded(oneLine(`/${name} ${usage}`), 26)} ${oneLine(about)}`,
      ),
      ...KEYS.map((line) => paint("dim", oneLine(line))),
    );
  },
};

const exportThread: SlashCommand = {
  name: "export",
  usage: "[file.md|file.html|file.json]",
  about: "write the conversation to a file: Markdown, with .html a page, with .json every event",
  isBeside: true,
  run: async (args, conversation) => {
    const { thread, terminal } = conversation;
    if (thread === undefined) return conversation.say(shown`There is nothing to export yet.`);
    const events = await replay(await thread.read(), { isRunning: conversation.isBusy });
    const file = resolve(terminal.cwd, args || threadFile(thread.id, ".md"));
    const { prices } = conversation;
    await writeNew(file, threadText({ title: thread.id, events, questions: [], prices }, file, ".md"));
    conversation.say(oneLine(`Written to ${file}`));
  },
};

const quit: SlashCommand = {
  name: "quit",
  alias: "exit",
  about: "leave; holdfast --continue resumes the thread",
  isBeside: true,
  run: async (_args, conversation) => conversation.quit(),
};

/** All slash commands, in the order of the help. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  help,
  plan,
  goOn,
  threads,
  resume,
  fresh,
  fork,
  undo,
  model,
  effort,
  login,
  mode,
  allow,
  compact,
  cost,
  tools,
  mcp,
  exportThread,
  quit,
];

export function commandOf(text: string): SlashCommand | undefined {
  const name = commandIn(text);
  return name === undefined
    ? undefined
    : SLASH_COMMANDS.find((one) => one.name === name || one.alias === name);
}

/** The slash commands, and the skills of a project. */
export function commandNames({ skills }: Pick<Project, "skills">): string[] {
  return [...SLASH_COMMANDS, ...skills].map(({ name }) => `/${name}`);
}
