import type { SessionMode } from "@agentclientprotocol/sdk";

/** The modes as an editor offers them. */
export const EDITOR_MODES = [
  { id: "plan", name: "Plan first", description: "Proposes a plan and waits for your approval" },
  { id: "ask", name: "Ask", description: "Asks before it changes files or runs commands" },
  { id: "edits", name: "Edit", description: "Changes files; asks before it runs commands" },
  { id: "auto", name: "Auto", description: "Asks for nothing" },
] as const satisfies readonly SessionMode[];

/** Mode `plan` while an approved plan is worked on. */
export const PLAN_APPROVED = {
  id: "plan",
  name: "Plan approved",
  description: "Works on the plan that you approved; asks again for what leaves it",
} as const satisfies SessionMode;
