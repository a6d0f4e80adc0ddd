import type { AIMessage, BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { LEAN_REPORTS } from "../../plan/lean.prompt.ts";
import { withSection } from "../system-prompt.ts";
import { repeated, type Answer } from "./answer.ts";
import type { Stage } from "./events.ts";
import { withDoneArgument, withReports } from "./inline-argument.ts";
import { PlanCall } from "./plan-call.ts";
import type { PlanParts } from "./turn.ts";
import { watchedModel } from "./watched-model.ts";

/** The parts of LangChain's model request that are used here. */
export interface ModelRequest {
  model: object;
  messages: BaseMessage[];
  systemMessage: SystemMessage;
  tools: readonly unknown[];
  modelSettings?: Record<string, unknown> | undefined;
  state: unknown;
  runtime: Stage & { signal?: AbortSignal | undefined };
}

/**
 * Wraps a model call: adds the prompt, appends the reminders that are due, repairs plan calls that are almost JSON,
 * completes the last item with the final answer or asks again when the model stops early, and counts what was spent.
 * All of it in the model's own graph step.
 */
export async function callModel<Request extends ModelRequest>(
  { setup, turns }: PlanParts,
  request: Request,
  handler: (request: Request) => AIMessage | Promise<AIMessage>,
): Promise<AIMessage | Command> {
  const call = new PlanCall(setup, request);
  const messages = call.remind(request.messages);
  const { reminders, systemPrompt } = setup.preset;
  // In strict mode a model must give every argument of a tool.
  const isInline = setup.reports === "inline" && request.modelSettings?.["strict"] !== true;
  const model = watchedModel(request.model, {
    onRequest: (outgoing) => withReports(call.remindIfTrimmed(outgoing), reminders.tag),
    onAnswer: (answer) => call.said.add(answer),
    ...(isInline && { onTools: (tools) => withDoneArgument(tools, setup.toolNames) }),
  });
  const systemMessage = withSection(
    request.systemMessage,
    isInline ? systemPrompt : systemPrompt.replace(LEAN_REPORTS.inline, LEAN_REPORTS.call),
  );
  for (;;) {
    const answer: Answer = await handler({ ...request, model, systemMessage, messages: [...messages] });
    call.count(answer);
    const unread = call.askAgain(answer);
    if (unread) {
      messages.push(unread);
      continue;
    }
    if (isInline) await call.applyReports(answer, { turns, request });
    await call.completeLastItem(answer, request.runtime.signal);
    const reminder = call.remindOfOpenItems(answer);
    if (!reminder) {
      await call.announceChanges(request.runtime);
      return call.finish(answer);
    }
    messages.push(...repeated(answer), reminder);
  }
}
