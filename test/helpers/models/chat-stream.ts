/** Answers of a model as a server streams them that speaks like OpenAI's; each message has an id of its own. */
let answers = 0;

export const says = (content: string): string => stream([{ content }], "stop");

/** What a model thinks before it speaks, as many servers send it. */
export const thinks = (reasoning_content: string, content: string): string =>
  stream([{ reasoning_content }, { content }], "stop");

/** Calls as a model makes them that counts its ids anew in every turn. */
export const calls = (...all: [name: string, args: object][]): string => {
  const tool_calls = all.map(([name, args], index) => ({
    index,
    id: `call_${index + 1}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return stream([{ tool_calls }], "tool_calls");
};

function stream(deltas: readonly object[], finish: string): string {
  answers += 1;
  const event = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ id: `m${answers}`, object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason }] })}\n\n`;
  return `${deltas.map((delta) => event(delta, null)).join("")}${event({}, finish)}data: [DONE]\n\n`;
}
