/** The constructor fields of a LangChain client. OpenAI's client stores them in `fields`. */
export function fieldsOf(model: object): Record<string, unknown> {
  const { fields, lc_kwargs } = model as { fields?: object; lc_kwargs?: object };
  return { ...(fields ?? lc_kwargs) };
}

/** The real model of one that is chosen when first used; any other model unchanged. */
export async function settled(model: object): Promise<object> {
  const { _getModelInstance: choose } = model as { _getModelInstance?: () => Promise<object> };
  return choose ? choose.call(model) : model;
}
