import { ToolMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { unparsedState } from "../langgraph/index.ts";
import { marks } from "../marks.ts";
import { CallTurn } from "../middleware/ordered-calls/index.ts";
import { anyUpdate, harnessField } from "../middleware/state/index.ts";
import { filled } from "../middleware/text/index.ts";
import { answeredOnce } from "../middleware/tool-errors/index.ts";
import { copyOf } from "../middleware/tools/index.ts";
import type { McpOptions } from "./options.ts";
import { serversOf, type McpServers } from "./servers.ts";
import { NO_SUCH_TOOL } from "./tools/find-tools.prompt.ts";
import { FIND_TOOLS, findTools } from "./tools/find-tools.ts";
import { PREFIX } from "./tools/tool-names.ts";

/** The number of tools, and of tokens of their definitions, for a search tool without `searchAbove`. */
const [SEARCH_FROM, SEARCH_ABOVE] = [10, 3000];

/**
 * Gives an agent the tools of MCP servers, which are started with its first model call. A search tool replaces many
 * definitions; its matches follow after all other tools for the rest of the thread, so that the beginning of a request
 * stays the same. Takes no graph step. Must come before middleware that wraps tool calls.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { mcpMiddleware } from "holdfast/mcp";
 *
 * const mcpServers = { docs: { url: "https://example.com/mcp" } };
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [mcpMiddleware({ mcpServers })] });
 * ```
 */
export function mcpMiddleware(mcp: McpOptions | McpServers) {
  const servers = serversOf(mcp, "mcpMiddleware");
  const { searchAbove } = servers.options;
  const areMany = (tools: readonly DynamicStructuredTool[]): boolean =>
    (searchAbove === undefined && tools.length >= SEARCH_FROM) ||
    tokens(tools) > (searchAbove ?? SEARCH_ABOVE);
  let last: { tools: object; search: DynamicStructuredTool | undefined } | undefined;
  /** The search tool for a list of tools; undefined for a short list. */
  const searchFor = (tools: readonly DynamicStructuredTool[]): DynamicStructuredTool | undefined => {
    if (last?.tools !== tools) last = { tools, search: areMany(tools) ? findTools(tools) : undefined };
    return last.search;
  };
  return createMiddleware({
    name: "McpMiddleware",
    stateSchema: foundToolsSchema(),
    wrapModelCall: async (request, handler) => {
      const tools = await servers.tools();
      const search = searchFor(tools);
      const { foundTools = [] } = request.state as { foundTools?: readonly string[] };
      const serverTools = search
        ? [search, ...foundTools.flatMap((name) => servers.find(name) ?? [])]
        : tools;
      return handler({
        ...request,
        messages: withImagesBehind(request.messages),
        tools: [...request.tools, ...serverTools],
      });
    },
    wrapToolCall: async (request, handler) => {
      const { name, id = "" } = request.toolCall;
      if (name !== FIND_TOOLS && !name.startsWith(PREFIX)) return answeredOnce(request, handler);
      const withdraw = CallTurn.of(request)?.announce(request);
      try {
        // A run that continues after a stop calls tools before its model.
        const tools = await servers.tools();
        const tool = request.tool ?? (name === FIND_TOOLS ? searchFor(tools) : servers.find(name));
        if (tool) return await answeredOnce({ ...request, tool }, handler);
        const content = filled(NO_SUCH_TOOL, { name });
        return new ToolMessage({ content, status: "error", name, tool_call_id: id });
      } finally {
        // Middleware behind this one may have answered the call: then the order of calls must not wait for it.
        withdraw?.();
      }
    },
  });
}

function foundToolsSchema() {
  const fields = {
    foundTools: harnessField(
      new ReducedValue(z.array(z.string()).default([]), {
        inputSchema: anyUpdate<string[]>(),
        reducer: (before, more) => (more === undefined ? before : [...new Set([...before, ...more])]),
      }),
    ),
  };
  return unparsedState(new StateSchema(fields));
}

/** The approximate number of tokens of definitions: four characters of JSON are a token. */
function tokens(tools: readonly DynamicStructuredTool[]): number {
  const texts = tools.map(({ name, description, schema }) =>
    JSON.stringify([name, description, z.toJSONSchema(schema as z.ZodType)]),
  );
  return texts.reduce((sum, text) => sum + text.length, 0) / 4;
}

/**
 * Moves the images of tool results to a message after the results of their turn: in OpenAI's chat protocol and others only
 * a user's message may have images. Returns the same list if there are none.
 */
export function withImagesBehind(messages: BaseMessage[]): BaseMessage[] {
  if (!messages.some(hasImages)) return messages;
  const all: BaseMessage[] = [];
  let waiting: Block[] = [];
  for (const [at, message] of messages.entries()) {
    if (hasImages(message)) {
      const isImage = (block: Block): boolean => block.type === "image_url";
      const texts = message.content.filter((block) => !isImage(block));
      const images = message.content.filter(isImage);
      const note = {
        type: "text" as const,
        text: `[${images.length === 1 ? "An image follows" : `${images.length} images follow`}.]`,
      };
      all.push(copyOf(message, { content: [...texts, note] }));
      waiting.push({ type: "text", text: `From ${message.name ?? "a tool"}, as data:` }, ...images);
    } else all.push(message);
    if (waiting.length === 0 || messages[at + 1]?.type === "tool") continue;
    all.push(
      new HumanMessage({
        content: waiting,
        name: "tool_images",
        additional_kwargs: marks({ hide_from_ui: true }),
      }),
    );
    waiting = [];
  }
  return all;
}

type Blocks = Exclude<ToolMessage["content"], string>;
type Block = Blocks[number];

function hasImages(message: BaseMessage): message is ToolMessage & { content: Blocks } {
  return (
    message.type === "tool" &&
    Array.isArray(message.content) &&
    message.content.some((block) => block.type === "image_url")
  );
}
