import { AIMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { giveOwnId } from "../../langgraph/index.ts";
import { repairCalls, UnreadCalls } from "../plan/index.ts";
import { hiddenMessage } from "../text/index.ts";
import { withoutControlTags } from "../tools/index.ts";

/**
 * Asks again for tool calls whose arguments are no JSON, which LangChain takes for no calls at all, so that the run
 * would end. Within the model's own graph step; the broken message is not kept. Shows control tags in texts of others as
 * text, and gives answers ids of their own. For agents without a plan, whose middleware does the same.
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
        messages.push(
          hiddenMessage({ name: "tool_call_reminder", text: `<system_reminder>${text}</system_reminder>` }),
        );
      }
    },
  });
}
