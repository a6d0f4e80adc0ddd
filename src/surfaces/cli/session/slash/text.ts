import { resolve } from "node:path";
import { replay } from "../../../../threads/record/replay.ts";
import { oneLine, shown } from "../../output/harmless.ts";
import { threadFile, threadText, writeNew } from "../../threads/thread-file.ts";
import type { SlashCommand } from "../conversation.ts";

export const exportThread: SlashCommand = {
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

export const quit: SlashCommand = {
  name: "quit",
  alias: "exit",
  about: "leave; the thread can be taken up again with holdfast --continue",
  isBeside: true,
  run: async (_args, conversation) => conversation.quit(),
};
