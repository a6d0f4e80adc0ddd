import { HarnessError } from "../../../../errors.ts";
import { shortened } from "../../../../middleware/text/index.ts";
import type { ThreadSummary } from "../../../../storage/index.ts";
import { ago } from "../../../../threads/log/index.ts";
import { OFFLINE } from "../../../../threads/prepare/index.ts";
import { newThreadId, settingsOfThread } from "../../../../threads/thread/index.ts";
import { earlierMessages, type EarlierMessage, undoneWords } from "../../../../threads/undo/index.ts";
import { oneLine, shown, type Harmless } from "../../output/index.ts";
import { isHere, findThread, MANY } from "../../threads/index.ts";
import { typedFor } from "../../view/index.ts";
import { quoted } from "../../wording.ts";
import type { SessionConversation, SlashCommand } from "../conversation.ts";
import type { QuestionChoice } from "../display/display.ts";
import { settingsToContinue } from "../modes.ts";
import { showThread } from "../resume-thread.ts";

/** The most threads that can be chosen from, and that are listed. */
const [MAX_CHOICES, MAX_LISTED] = [100, 20];

export const threads: SlashCommand = {
  name: "threads",
  about: "list the threads of this directory",
  isBeside: true,
  run: async (_args, conversation) => {
    const list = await threadsHere(conversation);
    const lines = list.slice(0, MAX_LISTED).map((thread) => threadLine(thread, conversation));
    if (list.length > MAX_LISTED)
      lines.push(conversation.paint("dim", shown`/resume offers older ones, too`));
    conversation.say(...(lines.length > 0 ? lines : [shown`There are no threads of this directory yet.`]));
  },
};

export const resume: SlashCommand = {
  name: "resume",
  usage: "[thread]",
  about: "continue another thread",
  run: async (args, conversation) => {
    const { saver } = conversation;
    const id = args ? (await findThread(saver, args)).id : await chooseThread(conversation);
    if (id === undefined) return;
    const threadSettings = await settingsOfThread(saver, id);
    if (!threadSettings)
      return conversation.say(shown`Another program made this thread. Only that program can continue it.`);
    const { settings, project, paint } = conversation;
    // Trust and allowed rules are those of the directory in which the session was opened.
    if (threadSettings.dir !== settings.dir)
      return conversation.say(
        oneLine(
          `That thread works on ${threadSettings.dir ?? "files of its own"}: holdfast session --thread ${quoted(id)}`,
        ),
      );
    const { settings: continued, notice } = settingsToContinue(threadSettings, project.config);
    await useModel(threadSettings.model, conversation);
    conversation.settings = { ...continued, model: conversation.model.name };
    if (notice) conversation.say(paint("yellow", notice));
    conversation.switchTo(id);
    await showThread(conversation);
  },
};

/** Switches to the model of a thread; keeps the session's model if that one is not available. */
async function useModel(name: string, conversation: SessionConversation): Promise<void> {
  if (name === conversation.model.name || name === OFFLINE) return;
  try {
    conversation.model = await conversation.modelNamed(name);
  } catch (error) {
    const { message } = HarnessError.from(error) ?? (error as Error);
    conversation.say(
      conversation.paint(
        "yellow",
        oneLine(`${conversation.model.name} answers, as ${name} cannot: ${message}`),
      ),
    );
  }
}

export const goOn: SlashCommand = {
  name: "continue",
  about: "resume the thread; a pending question is asked again",
  run: (_args, conversation) => conversation.goOn(),
};

export const fresh: SlashCommand = {
  name: "new",
  alias: "clear",
  about: "start another thread with the next message",
  run: async (_args, conversation) => {
    conversation.switchTo(undefined);
    conversation.say(shown`The next message begins a new thread.`);
  },
};

export const fork: SlashCommand = {
  name: "fork",
  about: "go back to an earlier message in a copy of the thread",
  run: async (_args, conversation) => {
    const { saver, thread } = conversation;
    const message = await chooseMessage(conversation);
    if (!message || thread === undefined) return;
    const { before } = message;
    const to = before === undefined ? undefined : await newThreadId(saver, message.text);
    if (to !== undefined) await thread.fork(to, { checkpoint: before });
    conversation.switchTo(to);
    conversation.display.draft(typedFor(message.text));
    const where = to ?? "a new thread";
    const files =
      conversation.settings.dir === undefined ? "" : " The files on the disk stay as they are now.";
    conversation.say(
      oneLine(`This is ${where}; your message is in the prompt again, ${thread.id} stays as it is.${files}`),
    );
  },
};

export const undo: SlashCommand = {
  name: "undo",
  about: "take back the last message: what was said, and the files that the agent wrote",
  run: async (_args, conversation) => {
    const undone = await conversation.thread?.undo();
    if (!undone) return conversation.say(shown`There is nothing to undo.`);
    if (undone.isFirst) conversation.switchTo(conversation.thread!.id);
    conversation.display.draft(typedFor(undone.text));
    conversation.say(
      shown`Taken back; your message is in the prompt again.`,
      ...undoneWords(undone).map(oneLine),
    );
  },
};

/** Lets the user choose a thread of this directory. */
async function chooseThread(conversation: SessionConversation): Promise<string | undefined> {
  const list = await threadsHere(conversation);
  if (list.length === 0) {
    conversation.say(shown`There are no threads of this directory yet.`);
    return undefined;
  }
  const choices = list.map((thread) => ({ value: thread.id, label: threadLine(thread, conversation) }));
  return choose(shown`Which thread?`, choices, conversation);
}

async function chooseMessage(conversation: SessionConversation): Promise<EarlierMessage | undefined> {
  const { thread } = conversation;
  const all: EarlierMessage[] = [];
  if (thread !== undefined) {
    for await (const message of earlierMessages(await thread.read())) all.push(message);
  }
  if (all.length === 0) {
    conversation.say(shown`There is no message yet.`);
    return undefined;
  }
  const choices = all.map(({ id, text }) => ({ value: id, label: oneLine(shortened(typedFor(text), 70)) }));
  const choice = await choose(shown`Continue from before which message?`, choices, conversation);
  return all.find(({ id }) => id === choice);
}

async function choose(
  question: Harmless,
  choices: readonly QuestionChoice[],
  { display }: SessionConversation,
): Promise<string | undefined> {
  const answer = await display.ask({ about: [], question, choices });
  return answer && "value" in answer ? answer.value : undefined;
}

async function threadsHere({ saver, terminal }: SessionConversation): Promise<ThreadSummary[]> {
  const list: ThreadSummary[] = [];
  for (const thread of await saver.listThreads({ limit: MANY })) {
    const settings = await settingsOfThread(saver, thread.id);
    if (settings && isHere(settings, terminal)) list.push(thread);
    if (list.length >= MAX_CHOICES) break;
  }
  return list;
}

function threadLine(
  { id, title = "", updatedAt, todos }: ThreadSummary,
  { thread }: SessionConversation,
): Harmless {
  const progress = todos.total > 0 ? ` ${todos.done}/${todos.total}` : "";
  const mark = id === thread?.id ? " (this one)" : "";
  return oneLine(`${id}${progress} ${ago(updatedAt.getTime(), Date.now())} ${shortened(title, 40)}${mark}`);
}
