type State = Record<string, unknown>;

/**
 * The same schema, with which LangChain reads the state of a model call as it is. For a middleware that wraps model
 * calls it makes all fields optional and parses the state by that, in every call, and so compiles a schema each time.
 * It asks Zod 3's objects for it by `partial` and `parse`, which this one answers to; else it is LangGraph's as before.
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
