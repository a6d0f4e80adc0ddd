import { amount, compactWords, dollars } from "../../../../threads/log/index.ts";
import { ownTools } from "../../../../threads/prepare/index.ts";
import { compactAt } from "../../../../threads/undo/index.ts";
import { costOf } from "../../../../threads/view/index.ts";
import { EFFORTS, MODES, type Mode } from "../../../../vocabulary.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { SlashCommand } from "../conversation.ts";
import { MODE_TEXTS } from "../modes.ts";

export const model: SlashCommand = {
  name: "model",
  usage: "[provider:name]",
  about: "show the model, or change it from the next message on",
  run: async (args, conversation) => {
    if (!args)
      return conversation.say(oneLine(`${conversation.model.name} (/model provider:name changes it)`));
    conversation.model = await conversation.modelNamed(args);
    conversation.settings = { ...conversation.settings, model: conversation.model.name };
    conversation.say(oneLine(`${conversation.model.name} answers from now on.`));
  },
};

export const effort: SlashCommand = {
  name: "effort",
  usage: "[off|low|medium|high]",
  about: "show how much the model thinks, or change it from the next message on",
  run: async (args, conversation) => {
    const { settings, project, say } = conversation;
    const newEffort = EFFORTS.find((one) => one === args);
    if (newEffort === undefined) {
      const now = settings.effort ?? project.config.effort ?? "as the model decides";
      return say(oneLine(`Effort: ${now}. /effort ${EFFORTS.join("|")} changes it.`));
    }
    conversation.settings = { ...settings, effort: newEffort };
    say(oneLine(`Effort ${newEffort} from now on.`));
  },
};

export const login: SlashCommand = {
  name: "login",
  usage: "[provider]",
  about: "set up a model: a provider's key is tested and stored",
  run: async (args, conversation) => {
    const { display, terminal } = conversation;
    const { logIn } = await import("../../login/login.ts");
    const name = await display.lend(async () => logIn(args ? { provider: args } : {}, terminal));
    if (name !== undefined) await model.run(name, conversation);
  },
};

export const mode: SlashCommand = {
  name: "mode",
  usage: "[plan|ask|edits|auto]",
  about: "how much you are asked; shift-tab switches to the next",
  isBeside: true,
  run: async (args, conversation) => {
    const newMode = MODES.find((one) => one === args);
    if (newMode === undefined) {
      const line = (one: Mode): string =>
        `${one === conversation.mode ? "❯" : " "} ${one}: ${MODE_TEXTS[one]}`;
      return conversation.say(...MODES.map((one) => shown`${oneLine(line(one))}`));
    }
    if (newMode === "auto" && !conversation.isIsolated) {
      const answer = await conversation.display.ask({
        about: [
          conversation.paint(
            "red",
            shown`Nothing isolates commands here: they would run with all your rights, unasked.`,
          ),
        ],
        question: shown`Ask for nothing all the same?`,
        choices: [
          { value: "no", label: shown`no` },
          { value: "yes", label: shown`yes, I answer for it` },
        ],
      });
      if (!answer || !("value" in answer) || answer.value !== "yes") return;
    }
    conversation.setMode(newMode);
    conversation.say(oneLine(`Mode ${newMode}: ${MODE_TEXTS[newMode]}.`));
  },
};

export const allow: SlashCommand = {
  name: "allow",
  usage: "[rule | remove rule]",
  about: "calls that are allowed in this directory: list, add or remove rules",
  isBeside: true,
  run: async (args, conversation) => {
    const { allowed, project } = conversation;
    if (!allowed) return conversation.say(shown`Rules need a directory, and this session has none.`);
    const removed = /^remove\s+(.+)$/s.exec(args)?.[1];
    if (removed !== undefined) {
      const isRemoved = await allowed.remove(removed);
      project.config.allow = (project.config.allow ?? []).filter((rule) => rule !== removed);
      return conversation.say(
        oneLine(isRemoved ? `${removed} is asked for again.` : `There is no rule ${removed}.`),
      );
    }
    if (args) return conversation.allow([args]);
    const rules = await allowed.rules();
    conversation.say(
      ...(rules.length > 0 ? rules.map(oneLine) : [shown`No call is always allowed here.`]),
      conversation.paint("dim", oneLine(`kept in ${allowed.file}; /allow remove <rule> takes one back`)),
    );
  },
};

export const compact: SlashCommand = {
  name: "compact",
  about: "have the conversation summarized with the next message",
  run: async (_args, conversation) => {
    const { thread } = conversation;
    if (thread === undefined) return conversation.say(shown`There is nothing to summarize yet.`);
    const length = await compactAt(await thread.read());
    conversation.isCompactedNext = length !== undefined;
    conversation.say(oneLine(compactWords(length)));
  },
};

export const cost: SlashCommand = {
  name: "cost",
  about: "tokens and cost of this session",
  isBeside: true,
  run: async (_args, { usage, prices, say }) => {
    const { inputTokens, outputTokens, cachedTokens } = usage;
    const money = prices ? dollars(costOf(usage, prices)) : "no prices set (HOLDFAST_PRICES)";
    say(
      oneLine(
        `${amount(inputTokens)} tokens read (${amount(cachedTokens)} from the cache), ${amount(outputTokens)} written; ${money}`,
      ),
    );
  },
};

export const tools: SlashCommand = {
  name: "tools",
  about: "what the agent can use",
  isBeside: true,
  run: async (_args, conversation) => {
    const { settings, project, say } = conversation;
    const served = (await (await conversation.servers())?.tools()) ?? [];
    const skills = project.skills.map(({ name }) => `/${name}`);
    say(
      oneLine(`tools: ${ownTools(settings).join(", ")}`),
      ...(served.length > 0 ? [oneLine(`of servers: ${served.map(({ name }) => name).join(", ")}`)] : []),
      ...(skills.length > 0 ? [oneLine(`skills: ${skills.join(", ")}`)] : []),
    );
  },
};
