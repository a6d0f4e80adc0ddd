import type { ToolMessage, ToolCall } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { checkOptions } from "../options/index.ts";
import { filled, withSection } from "../text/index.ts";
import { answered } from "../tool-errors/index.ts";
import { type CallResult, errorResult, isMutation, markTime, resultIn, wrapTool } from "../tools/index.ts";
import { CallTurn } from "./call-turn.ts";
import { ORDERED_CALLS_OPTIONS, type OrderedCallsOptions } from "./options.ts";
import { kindOf } from "./order-of.ts";
import { ORDERED_CALLS_PROMPT, WITHHELD } from "./ordered-calls.prompt.ts";

/**
 * Makes the calls of one message take effect in their order: calls that only read run together, a call that changes
 * something runs after all earlier ones. Consent is asked for all calls at once; a call after one that waits for a
 * person waits, too. Adds no graph step. Belongs before all middleware that may answer a call itself, and after
 * `mcpMiddleware`.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { filesMiddleware, orderedCallsMiddleware } from "holdfast";
 *
 * const ordered = orderedCallsMiddleware({ tools: { search_mail: "read", send_mail: "change" } });
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [ordered, filesMiddleware()] });
 * ```
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
      let startedAt: number | undefined;
      /** The tool, which waits before it runs and notes when it starts. */
      const timedTool = (wait?: () => Promise<ToolMessage | undefined>) =>
        tool && {
          tool: wrapTool(tool, async () => {
            const withheldResult = await wait?.();
            startedAt = now();
            return withheldResult;
          }),
        };
      const withTime = (result: CallResult): CallResult => {
        const message = startedAt === undefined ? undefined : resultIn(result);
        if (message) markTime(message, [startedAt!, now()]);
        return result;
      };
      if (!turn) return withTime(await answered({ ...request, ...timedTool() }, handler));
      const call = turn.enter(request, kindOf(toolCall.name, tool, tools));
      const ordered = withWait(request, async () => {
        const failed = await call.wait();
        const isWithheld = withhold !== false && failed.length > 0 && withhold(toolCall, failed);
        return isWithheld ? withheldResultOf(toolCall, failed) : undefined;
      });
      try {
        // A middleware that records the start of the call waits before that; otherwise the tool waits.
        const result = withTime(await answered({ ...ordered, ...timedTool(() => inTurn(ordered)) }, handler));
        call.end(result);
        return result;
      } catch (error) {
        call.stop(error);
        throw error;
      }
    },
  });
}

/** In a request: waits for the earlier calls of the message. */
const WAIT = Symbol("wait");

type Wait = () => Promise<ToolMessage | undefined>;

/** Adds a wait function to a request, for inner middleware. */
function withWait<Request extends object>(request: Request, wait: Wait): Request {
  return { ...request, [WAIT]: wait };
}

/**
 * Waits until it is a call's turn; returns at once without `orderedCallsMiddleware`. Returns the result of a call that is
 * withheld. Call it before recording that the call begins.
 */
export async function inTurn(request: object): Promise<ToolMessage | undefined> {
  return (request as { [WAIT]?: Wait })[WAIT]?.();
}

/** Withholds a command after a failed file change: there is nothing to test. */
function withholdCommands({ name }: ToolCall, failed: readonly ToolCall[]): boolean {
  return name === "execute" && failed.some((call) => isMutation(call.name));
}

function withheldResultOf(toolCall: ToolCall, failed: readonly ToolCall[]): ToolMessage {
  const calls = failed.map((call) => [call.name, call.args["file_path"]].filter(Boolean).join(" "));
  return errorResult(toolCall, filled(WITHHELD, { calls: calls.join(", "), name: toolCall.name }));
}

export { type CallOrder, type OrderedCallsOptions } from "./options.ts";
export { CallTurn } from "./call-turn.ts";
export { kindOf } from "./order-of.ts";
