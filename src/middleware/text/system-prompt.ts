import { SystemMessage } from "@langchain/core/messages";

/**
 * The system message with a section added at its end. Plain text stays one text: some servers accept a single
 * system message only, and LangChain sends several parts as several messages there.
 */
export function withSection(system: SystemMessage, section: string): SystemMessage {
  if (section === "") return system;
  if (system.text === "") return new SystemMessage(section);
  return isPlain(system)
    ? new SystemMessage(`${system.text}\n\n${section}`)
    : system.concat(`\n\n${section}`);
}

/** Text without anything attached to it, such as a cache breakpoint. */
function isPlain({ content }: SystemMessage): boolean {
  if (typeof content === "string") return true;
  return (
    content.length === 1 && content.every((block) => block.type === "text" && Object.keys(block).length === 2)
  );
}
