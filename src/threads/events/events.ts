import { z } from "zod";
import { PRIORITIES } from "../../plan/todo/index.ts";
import { STATUSES } from "../../vocabulary.ts";

const actuals = z.object({
  startedAt: z.number(),
  elapsedMs: z.number(),
  modelCalls: z.number(),
  toolCalls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
});

const todo = z.object({
  id: z.string(),
  content: z.string(),
  status: z.enum(STATUSES),
  priority: z.enum(PRIORITIES).optional(),
  dependsOn: z.array(z.string()).optional(),
  estimate: z.number().describe("Minutes.").optional(),
  note: z.string().optional(),
  key: z.string().describe("A name that stays when the words change.").optional(),
  mustVerify: z.literal(true).describe("Only a verifier or the user completes it.").optional(),
  unverified: z
    .literal(true)
    .describe("It was completed on the model's word: nothing was seen that shows its work.")
    .optional(),
  actuals: actuals.optional().describe("What the item cost while it was in progress."),
});

const counts = z.object({
  total: z.number(),
  pending: z.number(),
  in_progress: z.number(),
  completed: z.number(),
  blocked: z.number(),
  cancelled: z.number(),
});

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number().describe("The part of inputTokens that came from the provider's cache."),
  writtenTokens: z
    .number()
    .optional()
    .describe("The part of inputTokens that went into the provider's cache."),
});

const owner = z.string().describe("`main`, or a sub-agent's place such as `main/general-purpose:call_7`.");
const about = z.string().describe("The arguments in a few words.");
const call = z.string().describe("The id of the tool call.");
const args = z
  .unknown()
  .describe(
    "The arguments; text that could not be read as JSON stands as it came. Long ones are cut, and say where.",
  );

const asked = z
  .object({
    owner,
    call,
    name: z.string(),
    args,
    cut: z
      .literal(true)
      .describe("The arguments were too long and are cut: they are to look at, not to send back.")
      .optional(),
  })
  .describe("The call that it is about.");

const kind = z.enum(["plan-approval", "clarification", "permission", "other"]);

const repeated = z
  .literal(true)
  .describe("The call was interrupted when an earlier run stopped: it may have had its effect already.");

const rules = z
  .array(z.string())
  .describe("The conditions that hold for the whole plan. Absent: they are as they were.")
  .optional();

/** Fields of every event. */
const head = {
  version: z.literal(1),
  at: z.number().describe("Epoch milliseconds."),
  thread: z.string(),
};

const toolCall = {
  ...head,
  owner,
  call,
  name: z.string(),
  about,
  args: args.optional(),
  repeated: repeated.optional(),
};

/** An event of a run, as `--json` prints it and the views read it. */
export const RUN_EVENT = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("run-start"),
    ...head,
    model: z.string(),
    task: z.string().optional(),
    resumed: z.boolean(),
    dir: z.string().optional(),
  }),
  z
    .object({ type: z.literal("plan-snapshot"), ...head, owner, todos: z.array(todo), rules })
    .describe("The plan of a thread that is taken up again."),
  z.object({
    type: z.literal("plan-change"),
    ...head,
    owner,
    by: z.enum(["model", "person", "harness"]),
    changes: z.array(z.looseObject({ type: z.string() })),
    counts,
    todos: z.array(todo).describe("The whole plan after the change."),
    rules,
  }),
  z
    .object({
      type: z.literal("model-start"),
      ...head,
      owner,
      reminders: z
        .array(z.string())
        .describe("The names of the reminders that the harness added to the request.")
        .optional(),
    })
    .describe("The model was asked; until its first words it thinks."),
  z
    .object({
      type: z.literal("model-retry"),
      ...head,
      owner,
      seconds: z.number().describe("How long until then."),
      reason: z.string(),
    })
    .describe("The model is asked again. Text since its model-start is withdrawn: the answer starts over."),
  z
    .object({
      type: z.literal("text"),
      ...head,
      owner,
      text: z.string(),
      anew: z
        .literal(true)
        .describe(
          "Text since the model-start turned out to be thinking and is withdrawn: the answer begins here.",
        )
        .optional(),
    })
    .describe("A piece of an answer."),
  z
    .object({ type: z.literal("thought"), ...head, owner, text: z.string() })
    .describe("A piece of what the model thinks, where its provider tells."),
  z
    .object({
      type: z.literal("model-end"),
      ...head,
      owner,
      text: z.string(),
      thoughts: z
        .string()
        .describe("All that the model thought before. Of a long text the middle is left out, and said.")
        .optional(),
      isCut: z
        .literal(true)
        .describe(
          "The answer ended at the output limit without a call: the owner's next answer continues it.",
        )
        .optional(),
      usage,
    })
    .describe("An answer is complete; text is all of it."),
  z.object({ type: z.literal("tool-start"), ...toolCall }),
  z
    .object({ type: z.literal("tool-output"), ...head, owner, call, text: z.string() })
    .describe("The last lines that a running command has printed so far, at most once a second."),
  z.object({
    type: z.literal("tool-end"),
    ...toolCall,
    ok: z
      .boolean()
      .describe(
        "False also for a command that failed, a call that could not be made, and a task that is not done.",
      ),
    verdict: z.enum(["part", "failed"]).describe("Of a task that is not done.").optional(),
    result: z.string().describe("The first line of the result."),
    output: z
      .string()
      .describe("The whole result. Of a long one the middle is left out, and said.")
      .optional(),
    exitCode: z
      .number()
      .nullable()
      .describe("Of a command that failed; null when it was stopped.")
      .optional(),
  }),
  z
    .object({
      type: z.literal("completion-refusal"),
      ...head,
      owner,
      todoId: z.string(),
      reason: z.string(),
    })
    .describe("An item was not accepted as completed."),
  z.object({
    type: z.literal("subagent-start"),
    ...head,
    owner,
    name: z.string(),
    description: z.string(),
    model: z.string().describe("Its model, where its description names one.").optional(),
    todoId: z.string().optional(),
  }),
  z.object({
    type: z.literal("subagent-end"),
    ...head,
    owner,
    name: z.string(),
    ok: z.boolean(),
    verdict: z.enum(["done", "part", "failed"]).optional(),
    error: z.string().optional(),
  }),
  z
    .object({
      type: z.literal("question"),
      ...head,
      id: z.string(),
      kind,
      text: z.string(),
      options: z.array(z.string()).describe("Words to answer with; others are possible."),
      owner: owner.optional().describe("Who asks, when it is a sub-agent."),
      todos: z.array(todo).optional(),
      rules: z.array(z.string()).describe("The conditions that the plan comes with.").optional(),
      call: asked.optional(),
      repeated: repeated.optional(),
      notice: z.string().describe("Notes on the call besides its arguments.").optional(),
      error: z.string().describe("What was wrong with the last answer.").optional(),
    })
    .describe("The run waits for the user."),
  z.object({
    type: z.literal("answer"),
    ...head,
    id: z.string(),
    answer: z.unknown().describe("A decision has `by` if the user's name is known."),
    question: z
      .object({
        kind,
        name: z.string().describe("The tool, where it is about a call.").optional(),
        text: z.string().describe("A question in the agent's words.").optional(),
      })
      .describe("The question that the answer is for. Saved threads record it only here.")
      .optional(),
  }),
  z
    .object({ type: z.literal("message"), ...head, text: z.string() })
    .describe("A message of the user to the working agent, which reads it at its next call."),
  z
    .object({
      type: z.literal("summary"),
      ...head,
      owner,
      number: z.number().describe("How many summaries the agent's conversation has had."),
      messages: z
        .number()
        .describe("How many messages it takes out of the requests; all stay in the thread."),
      tokens: z.number().describe("About how many tokens these have."),
    })
    .describe("The beginning of a conversation was summarized: requests carry the summary from here on."),
  z
    .object({ type: z.literal("summary-failure"), ...head, owner, reason: z.string() })
    .describe("A summary could not be had. The conversation stays whole, and it is tried again later."),
  z.object({ type: z.literal("notice"), ...head, text: z.string() }),
  z.object({
    type: z.literal("run-end"),
    ...head,
    outcome: z.enum(["done", "open", "waiting", "failed", "interrupted"]),
    reason: z
      .enum(["turn-limit", "token-limit", "cost-limit", "time-limit"])
      .describe(
        "Why it stopped, where the outcome does not say: which budget was used up, its own or an item's.",
      )
      .optional(),
    exitCode: z.number(),
    counts,
    usage,
    cost: z.number().describe("US dollars, when prices are set.").optional(),
    waitedMs: z.number().describe("How long the run waited for the user. That time is not work.").optional(),
    answer: z
      .string()
      .describe("The agent's answer: its last message, after longer ones that belong to it.")
      .optional(),
    error: z.string().optional(),
    resume: z.string().describe("The command that continues the run, if work is left.").optional(),
  }),
]);

export type RunEvent = z.output<typeof RUN_EVENT>;
export type Usage = z.output<typeof usage>;

/** An event before it is stamped with version, time and thread. */
export type RunEventBody = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, keyof typeof head>
    : never
  : never;
