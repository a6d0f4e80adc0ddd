import { SystemMessage } from "@langchain/core/messages";

/**
 * Appends a section to the system message. Plain text stays one text: some servers accept a single system message
 * only, and LangChain sends several parts as several messages there.
 */
export function withSection(system: SystemMessage, section: string): SystemMessage {
  if (section === "") return system;
  if (system.text === "") return new SystemMessage(section);
  return isPlain(system)
    ? new SystemMessage(`${system.text}\n\n${section}`)
    : system.concat(`\n\n${section}`);
}

/** Joins prompts: one text, or a message if one of them has content blocks. */
export function joinedPrompt(...parts: (string | SystemMessage | undefined)[]): string | SystemMessage {
  const prompts = parts.flatMap((part) => (part === undefined || part === "" ? [] : [part]));
  if (prompts.every((part) => typeof part === "string")) return prompts.join("\n\n");
  const gap = "\n\n";
  const blocks = prompts.flatMap((part, at) => {
    if (typeof part !== "string" && typeof part.content !== "string") return part.content;
    const text = typeof part === "string" ? part : (part.content as string);
    const isBeforeParts = at + 1 < prompts.length && typeof prompts[at + 1] !== "string";
    return { type: "text" as const, text: `${at > 0 ? gap : ""}${text}${isBeforeParts ? gap : ""}` };
  });
  return new SystemMessage({ content: blocks });
}

/** Whether a message is text alone, without extras such as a cache breakpoint. */
function isPlain({ content }: SystemMessage): boolean {
  if (typeof content === "string") return true;
  return (
    content.length === 1 && content.every((block) => block.type === "text" && Object.keys(block).length === 2)
  );
}
