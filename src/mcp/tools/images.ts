import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { withContent } from "../../middleware/tools/with-content.ts";

/**
 * The messages with images of tool results in a message behind the results of their turn. Of OpenAI's chat protocol and
 * others only a user's message may have images; where nothing has any, the very list.
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
      all.push(withContent(message, [...texts, note]));
      waiting.push({ type: "text", text: `From ${message.name ?? "a tool"}, as data:` }, ...images);
    } else all.push(message);
    if (waiting.length === 0 || messages[at + 1]?.type === "tool") continue;
    all.push(
      new HumanMessage({ content: waiting, name: "tool_images", additional_kwargs: { hide_from_ui: true } }),
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
