import type { LiveRules } from "../../../threads/consent/consent-rules.ts";
import type { Conversation } from "./conversation.ts";

/** The mode and the rules of a session, as they are when a call is judged. */
export function liveRules(now: () => Pick<Conversation, "mode" | "project">): LiveRules {
  return {
    get mode() {
      return now().mode;
    },
    get allow() {
      return now().project.config.allow ?? [];
    },
  };
}
