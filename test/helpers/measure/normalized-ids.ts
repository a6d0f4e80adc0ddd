import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

const ID =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|(?<=call-|")[0-9a-f]{8}(?=-\d)/g;

/** A value as JSON has it, with ids as numbers in the order they are met: what two runs have alike is then equal. */
export function numbered(value: unknown, without: readonly string[]): unknown {
  const numbers = new Map<string, number>();
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (without.includes(key)) return undefined;
    if (part instanceof AIMessage || part instanceof ToolMessage || part instanceof HumanMessage)
      return { ...part.toDict(), id: part.id };
    return part;
  });
  const plain = text.replaceAll(/extract-\d+/g, "extract").replaceAll(ID, (id) => {
    if (!numbers.has(id)) numbers.set(id, numbers.size);
    return `#${numbers.get(id)}`;
  });
  return JSON.parse(plain) as unknown;
}
