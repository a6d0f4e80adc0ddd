type State = Record<string, unknown>;

/**
 * Makes LangChain skip the validation of this schema in model calls. For a middleware that wraps model calls, LangChain
 * makes all fields optional and parses the state in every call, which compiles a schema each time. It calls `partial`
 * and `parse` of Zod 3's objects for it, which are added here; everything else of LangGraph's schema stays the same.
 */
export function unparsedState<Schema extends { fields: object }>(schema: Schema): Schema {
  const names = Object.keys(schema.fields);
  const parse = (state: State): State => {
    const own: State = {};
    for (const name of names) if (name in state) own[name] = state[name];
    return own;
  };
  return Object.defineProperties(schema, {
    _def: { value: { typeName: "ZodObject" } },
    partial: { value: () => schema },
    parse: { value: parse },
  });
}
