import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { HarnessError } from "../../../errors.ts";
import { giveOwnId } from "../../../langgraph/index.ts";
import { yieldToEventLoop } from "../../../langgraph/loop/index.ts";
import { CONFIG } from "../../../marks.ts";
import { LEAN_REPORTS } from "../../../plan/presets/index.ts";
import type { Tally } from "../../../plan/todo/index.ts";
import { markUnsaid } from "../../prices/index.ts";
import { withSection } from "../../text/index.ts";
import { withoutControlTags, refusedCalls, withoutRefusedTexts } from "../../tools/index.ts";
import { callMetadata } from "../events.ts";
import { messagesOf, type ModelAnswer } from "../messages/answer.ts";
import { withUnreadCalls } from "../messages/broken-calls.ts";
import { HalfAnswer } from "../messages/half-answer.ts";
import { withDoneArgument, withReports } from "../messages/inline-argument.ts";
import type { PlanParts } from "../plan-call/turn.ts";
import { CalledBack } from "./called-back.ts";
import type { ModelRequest } from "./request.ts";
import { ModelStep } from "./step.ts";
import { watchedModel } from "./watched-model.ts";

/**
 * Wraps a model call: adds the prompt, appends the reminders that are due, repairs plan calls with broken JSON,
 * completes the last item with the final answer or asks again when the model stops early, and counts the spending. All
 * of it happens in the model's own graph step.
 */
export async function callModel<Request extends ModelRequest>(
  { setup, turns }: PlanParts,
  request: Request,
  handler: (request: Request) => AIMessage | Promise<AIMessage>,
): Promise<AIMessage | Command> {
  checkTools(request.tools, setup.preset.tools.write.name);
  const step = new ModelStep(setup, request);
  const { reminders, systemPrompt } = setup.preset;
  const { messages: conversation } = request.state as { messages: BaseMessage[] };
  const messages = step.remind([
    ...withUnreadCalls(withoutRefusedTexts(request.messages), reminders.tag),
    ...refusedCalls(conversation, setup.toolNames),
  ]);
  // In strict mode a model must send every argument of a tool.
  const isInline = setup.reports === "inline" && request.modelSettings?.["strict"] !== true;
  const model = watchedModel(request.model, {
    onRequest: (outgoing) =>
      withReports(step.remindIfTrimmed(withoutControlTags(outgoing, reminders.tag)), reminders.tag),
    onAnswer: (answer) => step.count(answer),
    metadata: callMetadata(step.state.todos, request.runtime),
    ...(isInline && { onTools: (tools) => withDoneArgument(tools, setup.toolNames) }),
  });
  const systemMessage = withSection(
    request.systemMessage,
    isInline ? systemPrompt : systemPrompt.replace(LEAN_REPORTS.inline, LEAN_REPORTS.call),
  );
  const calledBack = new CalledBack(conversation);
  let half = new HalfAnswer(reminders.tag);
  let parts: BaseMessage[] = [];
  let discarded: BaseMessage[] = [];
  for (;;) {
    const answer: ModelAnswer = await handler({
      ...request,
      model,
      systemMessage,
      messages: [...messages, ...parts],
    });
    for (const message of messagesOf(answer)) giveOwnId(message, conversation);
    await yieldToEventLoop();
    const retryPrompt = step.askAgain(answer);
    if (retryPrompt) {
      discarded.push(...messagesOf(answer));
      messages.push(retryPrompt);
      continue;
    }
    parts = half.ask(answer);
    if (parts.length > 0) {
      discarded.push(...messagesOf(answer));
      continue;
    }
    if (AIMessage.isInstance(answer)) for (const one of discarded) markUnsaid(answer, one);
    discarded = [];
    half = new HalfAnswer(reminders.tag);
    if (isInline) await step.applyReports(answer, { turns, request });
    await step.completeLastItem(answer, request.runtime.signal);
    const reminder = step.remindOfOpenItems(answer);
    if (!reminder) {
      const report = request.runtime.configurable?.[CONFIG.spent] as { spent?: Tally } | undefined;
      if (report) report.spent = step.spent;
      await step.announceChanges(request.runtime);
      return calledBack.finish(answer, step.finish(answer));
    }
    messages.push(...calledBack.add(answer, reminder, Date.now()));
  }
}

/** Refuses two plans in one agent: a middleware cannot see the others before the first call. */
function checkTools(tools: readonly unknown[], name: string): void {
  const twins = tools.filter((tool) => (tool as { name?: unknown }).name === name);
  if (twins.length < 2) return;
  throw new HarnessError(
    "invalid-options",
    `planMiddleware: the agent has two tools ${name}: remove todoListMiddleware from middleware, or the other tool.`,
  );
}
