import { amount, dollars } from "../../../threads/log/index.ts";
import { tokensOf, costOf } from "../../../threads/view/index.ts";
import { oneLine, type Harmless } from "../output/index.ts";
import { directoryName } from "../threads/index.ts";
import type { SessionConversation } from "./conversation.ts";

/** The status line below the prompt: `ask (shift-tab) · openai:gpt-5.1 · ~/project · 12k tokens · $0.03`. */
export function footer(conversation: SessionConversation, isStopping: boolean): Harmless {
  const { mode, isApproved, model, settings, terminal, usage, prices, paint } = conversation;
  const spent = tokensOf(usage);
  const parts = [
    `${mode === "plan" && isApproved ? "plan approved" : mode} (shift-tab)`,
    model.name,
    directoryName(settings, terminal),
    spent > 0 ? `${amount(spent)} tokens` : undefined,
    prices && spent > 0 ? dollars(costOf(usage, prices)) : undefined,
    isStopping ? "stopping; press again to leave" : undefined,
  ];
  return paint("dim", oneLine(parts.filter(Boolean).join(" · ")));
}
