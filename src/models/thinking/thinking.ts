import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type Effort } from "../../vocabulary.ts";
import { changed } from "../deferred.ts";
import { clientName, copyWith } from "../patched-model.ts";
import { CLIENTS, type ThinkingEffort, UNSURE } from "./thinking-clients.ts";

/** Settings of a model's thinking; undefined ones are up to the model. An effort alone switches thinking on. */
export interface Thinking {
  enabled: boolean | undefined;
  effort: ThinkingEffort | undefined;
}

/**
 * A copy of the model with thinking switched on or off. Calls `warn` if that is impossible, or possible only in part;
 * then requests contain nothing that the provider would refuse.
 */
export function withThinking(
  model: BaseChatModel,
  { enabled, effort }: Thinking,
  warn: (message: string) => void,
): BaseChatModel {
  if (enabled === undefined && effort === undefined) return model;
  const on = enabled ?? true;
  return changed(model, (chosen) => {
    const client = clientName(chosen);
    const { model: name = client } = chosen as { model?: string };
    const change = Object.hasOwn(CLIENTS, client)
      ? CLIENTS[client]!({ name, on, effort }, chosen)
      : undefined;
    const { fields, warning } = change ?? { warning: on ? `${client} has no setting for thinking` : UNSURE };
    if (fields === undefined) {
      if (warning !== undefined) warn(`${named(warning, name)}; ${ignored({ enabled, effort })}`);
      return chosen;
    }
    if (warning !== undefined) warn(named(warning, name));
    return copyWith(chosen, fields);
  });
}

/** The same with a single setting; undefined leaves thinking up to the model. */
export function withEffort(
  model: BaseChatModel,
  effort: Effort | undefined,
  warn: (message: string) => void,
): BaseChatModel {
  if (effort === undefined) return model;
  return withThinking(
    model,
    { enabled: effort !== "off", effort: effort === "off" ? undefined : effort },
    warn,
  );
}

function named(warning: string, model: string): string {
  return warning.replace("{model}", () => model);
}

function ignored({ enabled, effort }: Thinking): string {
  if (enabled === false) return "thinking_enabled: false is ignored";
  const names = [...(enabled ? ["thinking_enabled"] : []), ...(effort ? ["reasoning_effort"] : [])];
  return `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} ignored`;
}
