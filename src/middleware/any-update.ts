import { z } from "zod";

/**
 * The schema of a state field's updates that accepts anything: the field's reducer is what checks them.
 *
 * LangChain makes the state schema of a middleware optional, field by field, and compiles the result anew in every
 * model call. What is optional already need not be wrapped once more.
 */
export function anyUpdate<Update>(): z.ZodType<Update | undefined, Update | undefined> {
  const schema = z.any().optional();
  return Object.assign(schema, { optional: () => schema });
}
