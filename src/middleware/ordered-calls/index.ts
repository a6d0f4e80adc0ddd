import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { checkOptions } from "../options/index.ts";
import { filled, withSection } from "../text/index.ts";
import { answered } from "../tool-errors/index.ts";
import { isMutation, markTime, resultIn, wrapTool } from "../tools/index.ts";
import { CallTurn } from "./call-turn.ts";
import { inTurn, withPlace } from "./in-turn.ts";
import { ORDERED_CALLS_OPTIONS, type OrderedCallsOptions } from "./options.ts";
import { kindOf } from "./order-of.ts";
import { ORDERED_CALLS_PROMPT, WITHHELD } from "./ordered-calls.prompt.ts";

/**
 * Lets the calls of one message take effect in the order given: calls that only read run together, a call that changes
 * something runs after all earlier ones. Consent is asked for all calls at once; a call behind one that waits for a
 * person waits with it. Takes no graph step. Stands in front of all middleware that may answer a call itself, behind
 * `mcpMiddleware`.
 */
export function orderedCallsMiddleware(options: OrderedCallsOptions = {}) {
  checkOptions(options, { name: "orderedCallsMiddleware", schema: ORDERED_CALLS_OPTIONS });
  const { tools = {}, withhold = withholdCommands, systemPrompt = ORDERED_CALLS_PROMPT } = options;
  const { now = Date.now } = options;
  return createMiddleware({
    name: "OrderedCallsMiddleware",
    ...(systemPrompt && {
      wrapModelCall: (request, handler) =>
        handler({ ...request, systemMessage: withSection(request.systemMessage, systemPrompt) }),
    }),
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool } = request;
      const turn = CallTurn.of(request);
      let from: number | undefined;
      /** Has `wait` in front of the tool, and notes when the tool begins. */
      const begun = (wait?: () => Promise<ToolMessage | undefined>) =>
        tool && {
          tool: wrapTool(tool, async () => {
            const withheldResult = await wait?.();
            from = now();
            return withheldResult;
          }),
        };
      const timed = (result: ToolMessage | Command): ToolMessage | Command => {
        const message = from === undefined ? undefined : resultIn(result);
        if (message) markTime(message, [from!, now()]);
        return result;
      };
      if (!turn) return timed(await answered({ ...request, ...begun() }, handler));
      const place = turn.enter(request, kindOf(toolCall.name, tool, tools));
      const made = withPlace(request, async () => {
        const failed = await place.wait();
        const isWithheld = withhold !== false && failed.length > 0 && withhold(toolCall, failed);
        return isWithheld ? withheld(toolCall, failed) : undefined;
      });
      try {
        // Whoever records that a call begins waits first; for the others the tool does.
        const result = timed(await answered({ ...made, ...begun(() => inTurn(made)) }, handler));
        place.end(result);
        return result;
      } catch (error) {
        place.stop(error);
        throw error;
      }
    },
  });
}

/** Withholds a command after a failed change of a file: there is nothing to test. */
function withholdCommands({ name }: ToolCall, failed: readonly ToolCall[]): boolean {
  return name === "execute" && failed.some((call) => isMutation(call.name));
}

function withheld({ name, id = "" }: ToolCall, failed: readonly ToolCall[]): ToolMessage {
  const calls = failed.map((call) => [call.name, call.args["file_path"]].filter(Boolean).join(" "));
  const content = filled(WITHHELD, { calls: calls.join(", "), name });
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}

export { type CallOrder, type OrderedCallsOptions } from "./options.ts";
export { CallTurn } from "./call-turn.ts";
export { inTurn } from "./in-turn.ts";
export { kindOf } from "./order-of.ts";
