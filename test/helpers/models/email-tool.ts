import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { createDeepAgent } from "../../../src/deep/index.ts";
import { ScriptedModel, type Step } from "../../../src/testing/index.ts";

/** To whom letters were sent since the last {@link forgetLetters}, in order. */
export const sent: string[] = [];

export function forgetLetters(): void {
  sent.length = 0;
}

export const send = tool(({ to }) => `Sent to ${to}, letter ${sent.push(to)}.`, {
  name: "send",
  description: "Sends a letter.",
  schema: z.object({ to: z.string() }),
});

/** An agent that asks before each letter. */
export const asking = (steps: Step[]) =>
  createDeepAgent({ model: new ScriptedModel(steps), tools: [send], interruptOn: { send: true } });
