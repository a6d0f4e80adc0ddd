import { z } from "zod";
import { HarnessError } from "../../../errors.ts";
import { STATUSES } from "../../../plan/index.ts";
import type { PlanEdit } from "../../../threads/plan/merged-plan.ts";

const SHOW = z.object({ sessionId: z.string() });
const EDIT = SHOW.extend({
  todos: z.array(z.unknown()),
  // Without it, what the agent has done since the editor looked would be undone.
  base: z.array(z.looseObject({ id: z.string(), content: z.string(), status: z.enum(STATUSES) })),
  rules: z.array(z.string()).optional(),
});

/** The session whose plan is asked for. Throws `invalid-request`. */
export function readShow(params: unknown): string {
  return read(SHOW, params).sessionId;
}

/** An edit as an editor sent it. Throws `invalid-request`. */
export function readEditOf(params: unknown): { sessionId: string; edit: PlanEdit } {
  const { sessionId, ...edit } = read(EDIT, params);
  return { sessionId, edit };
}

function read<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new HarnessError("invalid-request", [path.join("."), message].filter(Boolean).join(": "));
}
