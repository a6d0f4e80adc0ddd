import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** Counts the checkpoints that are listed from now on, turns of the event loop between them, and looks at messages. */
export function lookedAt(saver: BaseCheckpointSaver): { checkpoints: number; turns: number; looks: number } {
  const seen = { checkpoints: 0, turns: 0, looks: 0 };
  let isNewTurn = true;
  const list = saver.list.bind(saver);
  saver.list = async function* (...given) {
    for await (const tuple of list(...given)) {
      seen.checkpoints += 1;
      seen.turns += Number(isNewTurn);
      isNewTurn = false;
      setImmediate(() => void (isNewTurn = true));
      const { channel_values: values } = tuple.checkpoint;
      const { messages } = values;
      const get = (): unknown => {
        seen.looks += 1;
        return messages;
      };
      if (messages !== undefined) Object.defineProperty(values, "messages", { get, enumerable: true });
      yield tuple;
    }
  };
  return seen;
}
