import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { giveOwnId } from "../../langgraph/index.ts";
import { HalfAnswer, repairCalls, UnreadCalls, watchedModel, withUnreadCalls } from "../plan/index.ts";
import { markUnsaid } from "../prices/index.ts";
import { reminderMessage } from "../text/index.ts";
import { withoutControlTags } from "../tools/index.ts";

const TAG = "system_reminder";

/**
 * Calls the model again if the arguments of all its tool calls are not valid JSON, because LangChain ignores such calls
 * and would end the run, and if its answer was cut off. Adds no graph step and keeps neither broken messages nor half
 * answers. Also escapes control tags in texts of users and tools, and gives answers unique ids. For agents without
 * `planMiddleware`, which does the same.
 */
export function brokenCallsMiddleware() {
  return createMiddleware({
    name: "BrokenCallsMiddleware",
    wrapModelCall: async (request, handler) => {
      const unread = new UnreadCalls();
      const half = new HalfAnswer(TAG);
      const model = watchedModel(request.model, { onRequest: (messages) => messages });
      const messages = withUnreadCalls(request.messages, TAG);
      let parts: BaseMessage[] = [];
      const discarded: AIMessage[] = [];
      for (;;) {
        const sent = withoutControlTags([...messages, ...parts], TAG);
        const answer = await handler({ ...request, model, messages: sent });
        if (!AIMessage.isInstance(answer)) return answer;
        giveOwnId(answer, request.state.messages);
        repairCalls(answer, []);
        const text = unread.ask(answer);
        if (text !== undefined) {
          discarded.push(answer);
          messages.push(reminderMessage("tool_call_reminder", text));
          continue;
        }
        parts = half.ask(answer);
        if (parts.length === 0) {
          for (const one of discarded) markUnsaid(answer, one);
          return answer;
        }
        discarded.push(answer);
      }
    },
  });
}
