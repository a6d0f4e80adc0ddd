import { z } from "zod";
import { type RunRequest, QUEUE_NAME, STRATEGIES } from "../../../threads/host/index.ts";
import { validate, refuse } from "../http/index.ts";
import type { Assistants } from "./assistants.ts";
import { CLASSIC_MODES, type StreamSelection } from "./events/classic-events.ts";

const nodes = z.union([z.literal("*"), z.array(z.string())]);
const record = z.record(z.string(), z.unknown());

/** The body of a request for a run. Other fields are ignored. */
const RUN_BODY = z.looseObject({
  assistant_id: z.string(),
  input: record.nullish(),
  command: z.object({ resume: z.unknown(), update: record.nullish(), goto: z.unknown() }).partial().nullish(),
  checkpoint_id: z.string().nullish(),
  checkpoint: z
    .looseObject({
      checkpoint_id: z.string().nullish(),
      checkpoint_ns: z.string().nullish(),
      checkpoint_map: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
  config: z.looseObject({ configurable: record.nullish(), recursion_limit: z.number().nullish() }).nullish(),
  context: record.nullish(),
  metadata: record.nullish(),
  multitask_strategy: z.enum(STRATEGIES).nullish(),
  interrupt_before: nodes.nullish(),
  interrupt_after: nodes.nullish(),
  on_completion: z.enum(["delete", "keep", "complete", "continue"]).nullish(),
  on_disconnect: z.enum(["cancel", "continue"]).nullish(),
  if_not_exists: z.enum(["reject", "create"]).nullish(),
  after_seconds: z.number().min(0).nullish(),
  priority: z.number().int().min(-100).max(100).nullish(),
  webhook: z.null("there are no webhooks here").optional(),
  queue: z.string().regex(QUEUE_NAME, "letters, digits, -, _ and ., at most 64").nullish(),
  stream_mode: z.union([z.string(), z.array(z.string())]).nullish(),
  stream_subgraphs: z.boolean().nullish(),
});
export type RunBody = z.output<typeof RUN_BODY>;

/** Reads the body of a request for a run. Answers 422 for an invalid one. */
export function readRunBody(fields: Record<string, unknown>): RunBody {
  return validate(RUN_BODY, fields);
}

export function runRequest(
  body: RunBody,
  assistants: Assistants,
  { isTemporary }: { isTemporary: boolean },
): RunRequest {
  const { input, command, checkpoint, config, context, metadata } = body;
  const checkpointId = body.checkpoint_id ?? checkpoint?.checkpoint_id;
  const isCommand = command && Object.values(command).some((part) => part !== undefined && part !== null);
  return {
    graph: assistants.graph(body.assistant_id),
    ...(isCommand ? { command } : { input: input ?? null }),
    ...(checkpointId && {
      checkpoint: {
        checkpoint_id: checkpointId,
        ...(checkpoint?.checkpoint_ns && { checkpoint_ns: checkpoint.checkpoint_ns }),
        ...(checkpoint?.checkpoint_map && { checkpoint_map: checkpoint.checkpoint_map }),
      },
    }),
    configurable: ownConfigurable(config?.configurable ?? {}),
    ...(context && { context }),
    ...(metadata && { metadata }),
    ...(config?.recursion_limit && { recursionLimit: config.recursion_limit }),
    ...(body.interrupt_before && { interruptBefore: body.interrupt_before }),
    ...(body.interrupt_after && { interruptAfter: body.interrupt_after }),
    ...(body.multitask_strategy && { strategy: body.multitask_strategy }),
    ...(body.after_seconds && { delay: body.after_seconds }),
    ...(body.priority && { priority: body.priority }),
    ...(body.queue && { queue: body.queue }),
    ...(body.stream_mode && { modes: [body.stream_mode].flat() }),
    ...([body.stream_mode].flat().includes("events") && { isTraced: true }),
    ...(isTemporary && body.on_completion !== "keep" && { isTemporary: true }),
  };
}

/** The `configurable` values without the keys that LangGraph and the harness set. */
function ownConfigurable(configurable: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(configurable).filter(([key]) => !RESERVED.test(key)));
}

const RESERVED = /^(?:__|checkpoint_|holdfast_|thread_id$|run_id$)/;

/** A client's selection of the stream. Answers 422 for unknown modes. */
export function selectionOf(
  modes: string | readonly string[] | null | undefined,
  subgraphs: boolean,
): StreamSelection {
  const list = [modes ?? []].flat();
  const supported: readonly string[] = CLASSIC_MODES;
  const unknown = list.find((mode) => !supported.includes(mode));
  if (unknown !== undefined) {
    refuse(
      422,
      `stream_mode: ${JSON.stringify(unknown)} cannot be streamed here; use ${supported.join(", ")}.`,
    );
  }
  return { modes: new Set(list.length > 0 ? list : ["values"]), subgraphs };
}
