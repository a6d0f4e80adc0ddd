/** Original tools by wrapper. */
const originals = new WeakMap<object, object>();

interface InvokableTool {
  invoke(input: unknown, config?: unknown): Promise<unknown>;
}

/** Wraps a tool so that `before` runs before every call. A value that `before` returns is the result of the call. */
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

/** The tool inside its wrappers: registries of tools have this object as their key. */
export function originalTool<Tool>(tool: Tool): Tool {
  const isObject = typeof tool === "object" && tool !== null;
  return isObject ? ((originals.get(tool) as Tool | undefined) ?? tool) : tool;
}

const planTools = new WeakSet<object>();

/** Marks a tool that changes the plan and nothing else, whatever its name. Returns the tool. */
export function planTool<Tool extends object>(tool: Tool): Tool {
  planTools.add(tool);
  return tool;
}

export function isPlanTool(tool: unknown): boolean {
  const original = originalTool(tool);
  return typeof original === "object" && original !== null && planTools.has(original);
}
