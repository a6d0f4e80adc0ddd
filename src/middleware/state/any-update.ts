import { z } from "zod";

/** The schema of a state field's updates that accepts anything: the field's reducer is what checks them. */
export function anyUpdate<Update>(): z.ZodType<Update | undefined, Update | undefined> {
  return z.any().optional();
}
