import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { HarnessError } from "../../../../errors.ts";
import { jsonText } from "../../../../runs/json-text.ts";
import { replay } from "../../../../runs/replay.ts";
import { transcript } from "../../../../runs/transcript.ts";
import { oneLine, shown } from "../../output/harmless.ts";
import type { SlashCommand } from "../conversation.ts";

export const exportThread: SlashCommand = {
  name: "export",
  usage: "[file.md|file.json]",
  about: "write the conversation to a file: Markdown, or with .json every event",
  isBeside: true,
  run: async (args, conversation) => {
    const { thread, terminal } = conversation;
    if (thread === undefined) return conversation.say(shown`There is nothing to export yet.`);
    const { graph } = await conversation.agent();
    const state = await graph.getState({ configurable: { thread_id: thread } });
    const events = await replay(graph, state, { thread, isRunning: conversation.isBusy });
    const file = resolve(terminal.cwd, args || `${thread.replaceAll(/[^\w.-]+/g, "-")}.md`);
    const isJson = file.endsWith(".json");
    const text = isJson ? `${events.map((event) => jsonText(event)).join("\n")}\n` : transcript(events);
    try {
      await writeFile(file, text, { flag: "wx" });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code === "EEXIST" ? "it is there already" : message;
      throw new HarnessError("invalid-options", `${file} cannot be written: ${why}.`);
    }
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
