import { AIMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { giveOwnId } from "../../langgraph/index.ts";
import { repairCalls, UnreadCalls } from "../plan/index.ts";
import { reminderMessage } from "../text/index.ts";
import { withoutControlTags } from "../tools/index.ts";

/**
 * Calls the model again if the arguments of a tool call are not valid JSON: LangChain ignores such calls, which would end
 * the run. Adds no graph step and does not keep the broken message. Also escapes control tags in texts of users and
 * tools, and gives answers unique ids. For agents without `planMiddleware`, which does the same.
 */
export function brokenCallsMiddleware() {
  return createMiddleware({
    name: "BrokenCallsMiddleware",
    wrapModelCall: async (request, handler) => {
      const unread = new UnreadCalls();
      const messages = [...request.messages];
      for (;;) {
        const answer = await handler({
          ...request,
          messages: withoutControlTags(messages, "system_reminder"),
        });
        if (!AIMessage.isInstance(answer)) return answer;
        giveOwnId(answer, request.state.messages);
        repairCalls(answer, []);
        const text = unread.ask(answer);
        if (text === undefined) return answer;
        messages.push(reminderMessage("tool_call_reminder", text));
      }
    },
  });
}
