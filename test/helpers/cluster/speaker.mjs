// A graph that speaks: `count` events, one every `every` milliseconds, each with the time at which it was said. It
// marks its start, and the moment at which it is told to stop.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ id: Annotation(), count: Annotation(), every: Annotation() });

export function speaker(mark) {
  const speak = async ({ id, count, every }, config) => {
    const begun = performance.now();
    const started = mark(id, "start");
    config.signal?.addEventListener("abort", () => void mark(id, "stop"));
    for (let n = 0; n < count && !config.signal?.aborted; n += 1) {
      config.writer({ n, at: Date.now() });
      const wait = begun + (n + 1) * every - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
    await started;
    config.signal?.throwIfAborted();
    return {};
  };
  return new StateGraph(State)
    .addNode("speak", speak)
    .addEdge(START, "speak")
    .addEdge("speak", END)
    .compile();
}
