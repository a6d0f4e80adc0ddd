/** The tools behind wrappers, by wrapper. */
const originals = new WeakMap<object, object>();

interface InvokableTool {
  invoke(input: unknown, config?: unknown): Promise<unknown>;
}

/** The tool, with `before` in front of every call. What `before` returns, unless it is undefined, is the result. */
export function wrapTool<Tool extends object>(tool: Tool, before: () => Promise<unknown>): Tool {
  const { invoke } = tool as Partial<InvokableTool>;
  if (typeof invoke !== "function") return tool;
  const wrapped = async (input: unknown, config?: unknown): Promise<unknown> =>
    (await before()) ?? invoke.call(tool, input, config);
  const wrapper = new Proxy(tool, {
    get: (target, key) => (key === "invoke" ? wrapped : (Reflect.get(target, key) as unknown)),
  });
  originals.set(wrapper, originalTool(tool));
  return wrapper;
}

/** The tool itself, behind whatever wraps it: what is known of a tool is known of this object. */
export function originalTool<Tool>(tool: Tool): Tool {
  const isObject = typeof tool === "object" && tool !== null;
  return isObject ? ((originals.get(tool) as Tool | undefined) ?? tool) : tool;
}

const planTools = new WeakSet<object>();

/** Marks a tool that changes the plan and nothing else, so that others can tell it from work whatever it is called. */
export function planTool<Tool extends object>(tool: Tool): Tool {
  planTools.add(tool);
  return tool;
}

export function isPlanTool(tool: unknown): boolean {
  const original = originalTool(tool);
  return typeof original === "object" && original !== null && planTools.has(original);
}
