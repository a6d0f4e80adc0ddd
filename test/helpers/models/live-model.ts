import { assignmentOf, LIVE_TASKS } from "../../../bench/live/tasks/index.ts";
import type { Assignment, Changes } from "../../../bench/live/tasks/task.ts";
import { startModelServer, type ModelServer } from "./model-server.ts";

/** What a request of OpenAI's chat API has that a player looks at. */
interface ChatRequest {
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
}

interface Call {
  name: string;
  args: object | string;
}

/** One turn of a player: calls, or the answer. */
type Turn = Call[] | string;

/** How a player does a task, the first or the last of the set: the turns in order. */
export type Player = (assignment: Assignment, at: number) => Turn[];

/** What each call costs with every player. */
export const SPENT = { input: 1000, cached: 400, output: 50 };

/** Reads everything, makes the right changes one by one, and says so. */
export const good: Player = ({ files, solution }) => [
  [{ name: "ls", args: {} }],
  Object.keys(files).map((path) => ({ name: "read_file", args: { file_path: `/${path}` } })),
  ...changesTurns(solution),
  "All is done.",
];

/** Answers at once, forgets something, or sends what is no JSON: one of them for each task. */
export const bad: Player = (assignment, at) => {
  const ways: Turn[][] = [
    ["All is done."],
    [...changesTurns(assignment.mistake), "All is done."],
    [[{ name: "write_file", args: '{"file_path": "/x.txt", "conte' }], "All is done."],
  ];
  return ways[at % ways.length]!;
};

/** Starts a server on which a player does the tasks. `status` may refuse a request instead. */
export async function startPlayer(
  player: () => Player,
  { status = () => 200, isMetered = true }: { status?: () => number; isMetered?: boolean } = {},
): Promise<ModelServer> {
  return startModelServer((body) => {
    const { messages, tools = [] } = body as unknown as ChatRequest;
    const prompt = String(messages.find(({ role }) => role === "user")?.content);
    const code = status();
    if (code !== 200) return { status: code, body: { error: { message: "not now" } } };
    const task = ASSIGNMENTS.findIndex((one) => one.prompt === prompt);
    if (task < 0) return { status: 400, body: { error: { message: "an unknown task" } } };
    const turns = withPlan(
      player()(ASSIGNMENTS[task]!, task),
      tools.map((tool) => tool.function.name),
    );
    const at = messages.filter(({ role }) => role === "assistant").length;
    const answer = completion(turns[Math.min(at, turns.length - 1)]!, at);
    return { status: 200, body: { ...answer, ...(isMetered && { usage: USAGE }) } };
  });
}

const USAGE = {
  prompt_tokens: SPENT.input,
  completion_tokens: SPENT.output,
  total_tokens: SPENT.input + SPENT.output,
  prompt_tokens_details: { cached_tokens: SPENT.cached },
};

const ASSIGNMENTS = LIVE_TASKS.map((task) => assignmentOf(task, "1/1"));

function changesTurns(changes: Changes): Turn[] {
  return Object.entries(changes).map(([path, content]) => [
    content === undefined
      ? { name: "delete_file", args: { file_path: `/${path}` } }
      : { name: "write_file", args: { file_path: `/${path}`, content } },
  ]);
}

/** A model that has a tool for a plan makes one, beside its first call. */
function withPlan(turns: readonly Turn[], tools: readonly string[]): Turn[] {
  const [first, ...rest] = turns as [Turn, ...Turn[]];
  if (!tools.includes("write_todos") || typeof first === "string") return [...turns];
  const item = "Do the task";
  const todos = tools.includes("update_todos") ? [item] : [{ content: item, status: "in_progress" }];
  return [[{ name: "write_todos", args: { todos } }, ...first], ...rest];
}

function completion(turn: Turn, at: number): object {
  const isAnswer = typeof turn === "string";
  const calls = isAnswer ? [] : turn;
  const message = {
    role: "assistant",
    content: isAnswer ? turn : null,
    ...(!isAnswer && {
      tool_calls: calls.map(({ name, args }, index) => ({
        id: `call_${at}_${index}`,
        type: "function",
        function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
      })),
    }),
  };
  return {
    id: `c${at}`,
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{ index: 0, message, finish_reason: isAnswer ? "stop" : "tool_calls" }],
  };
}
