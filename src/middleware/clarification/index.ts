import { ToolMessage } from "@langchain/core/messages";
import { interrupt } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { marks } from "../../marks.ts";
import { answeredOnce } from "../tool-errors/index.ts";
import { callId, checkedTool, errorResult, turnOf, isPlanTool } from "../tools/index.ts";
import { CLARIFICATION_DESCRIPTION } from "./clarification.prompt.ts";

export const CLARIFICATION_TOOL = "ask_clarification";

/** The value of the interrupt with a question to the user. Resume with the answer: a string, or `{ answer }`. */
export interface ClarificationRequest {
  type: "clarification";
  version: 1;
  question: string;
  options?: string[];
  context?: string;
}

/** Options of `clarificationMiddleware`. */
interface ClarificationOptions {
  /** `false` hides the tool from the model; an earlier question can still be answered. Default true. */
  canAsk?: boolean;
}

/**
 * Lets the model ask the user: the run stops with an interrupt and continues with the answer. Other calls of the turn
 * are not run, and the model is notified, except those that change the plan: the user sees the new plan meanwhile.
 *
 * @example
 * ```ts
 * import { MemorySaver } from "@langchain/langgraph";
 * import { createAgent } from "langchain";
 * import { clarificationMiddleware } from "holdfast";
 *
 * const middleware = [clarificationMiddleware()];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware, checkpointer: new MemorySaver() });
 * ```
 */
export function clarificationMiddleware({ canAsk = true }: ClarificationOptions = {}) {
  return createMiddleware({
    name: "ClarificationMiddleware",
    tools: [clarificationTool()],
    ...(!canAsk && {
      wrapModelCall: (request, handler) =>
        handler({
          ...request,
          tools: request.tools.filter((tool) => (tool as { name?: unknown }).name !== CLARIFICATION_TOOL),
        }),
    }),
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool, state } = request;
      const mayRun = toolCall.name === CLARIFICATION_TOOL || isPlanTool(tool);
      const calls = turnOf(state.messages, toolCall.id)?.tool_calls ?? [];
      if (mayRun || !calls.some(({ name }) => name === CLARIFICATION_TOOL))
        return answeredOnce(request, handler);
      const content = `Not run: ${CLARIFICATION_TOOL} was called in the same turn, and the answer may change what you need. Call it again if you still need it.`;
      return errorResult(toolCall, content);
    },
  });
}

function clarificationTool() {
  const schema = z.object({
    question: z.string().min(1),
    options: z.array(z.string()).optional(),
    context: z.string().optional(),
  });
  return checkedTool(
    { name: CLARIFICATION_TOOL, description: CLARIFICATION_DESCRIPTION, schema },
    async ({ question, options, context }, runtime) => {
      const request: ClarificationRequest = {
        type: "clarification",
        version: 1,
        question,
        ...(options && { options }),
        ...(context !== undefined && { context }),
      };
      const content = readAnswer(interrupt(request));
      return new ToolMessage({
        content,
        name: CLARIFICATION_TOOL,
        tool_call_id: callId(runtime),
        // The question is answered: the plan's exit guard may send reminders again.
        additional_kwargs: marks({ user_answered: true }),
      });
    },
  );
}

function readAnswer(answer: unknown): string {
  const value: unknown =
    typeof answer === "object" && answer !== null && "answer" in answer ? answer.answer : answer;
  const text = typeof value === "string" ? value.trim() : JSON.stringify(value);
  return text
    ? `The user answers: ${text}`
    : "The user gave no answer. Decide yourself, and say what you assumed.";
}
