/** The fields that a client of LangChain was built with. OpenAI's client keeps them apart. */
export function fieldsOf(model: object): Record<string, unknown> {
  const { fields, lc_kwargs: kept } = model as { fields?: object; lc_kwargs?: object };
  return { ...(fields ?? kept) };
}

/** The real model behind one that is chosen when first used; any other is itself. */
export async function settled(model: object): Promise<object> {
  const { _getModelInstance: choose } = model as { _getModelInstance?: () => Promise<object> };
  return choose ? choose.call(model) : model;
}
