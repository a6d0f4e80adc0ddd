import { isRecord } from "./plan/read/index.ts";

/**
 * The user's decision about a call or a plan. LangGraph's clients send it in many forms; `parseDecision` reads them all,
 * and nothing else does.
 */
export interface Decision {
  /** `respond` is a refusal with words, which some user interfaces send. */
  type: "approve" | "edit" | "reject" | "respond";
  /** The user's name, if several may decide. */
  by?: string;
  /** Why the user rejects, or what the user says instead. */
  message?: string;
  /** Of `edit`: the new arguments, with the name of the tool if the client sent one. */
  edited?: { name?: unknown; args: Record<string, unknown> };
}

const WORDS: Record<string, Decision["type"]> = {
  approve: "approve",
  accept: "approve",
  edit: "edit",
  reject: "reject",
  ignore: "reject",
  respond: "respond",
  response: "respond",
};

/** Reads one decision: a boolean, a word, or an object. Undefined for anything else. */
export function parseDecision(sent: unknown): Decision | undefined {
  if (typeof sent === "boolean") return { type: sent ? "approve" : "reject" };
  const fields = isRecord(sent) ? sent : {};
  const word = typeof sent === "string" ? sent.trim() : (fields["type"] ?? fields["decision"]);
  const type = typeof word === "string" && Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (!type) return undefined;
  const { by } = fields;
  const message = [fields["message"], fields["reason"], fields["args"]].find(
    (value) => typeof value === "string" && value.trim() !== "",
  );
  return {
    type,
    by: typeof by === "string" ? by : undefined,
    message: (message as string | undefined)?.trim(),
    edited: type === "edit" ? editedIn(fields) : undefined,
  };
}

/** The edited call. An edit of a plan may have its items and rules beside the type. */
function editedIn(fields: Record<string, unknown>): Decision["edited"] {
  const { editedAction, edited_action, args, todos, items, rules } = fields;
  const action = editedAction ?? edited_action;
  if (isRecord(action))
    return isRecord(action["args"]) ? { name: action["name"], args: action["args"] } : undefined;
  if (isRecord(args)) {
    // Older user interfaces: `args` is the action, `{ action, args }`.
    const { action: name, args: inner, ...others } = args;
    const isAction = typeof name === "string" && isRecord(inner) && Object.keys(others).length === 0;
    return isAction ? { name, args: inner } : { args };
  }
  const list = todos ?? items;
  return list === undefined ? undefined : { args: { todos: list, rules } };
}

/** The decisions in an answer with several: `{ decisions }` of LangChain's user interfaces, or a bare list. */
export function decisionList(answer: unknown): unknown[] | undefined {
  const list = isRecord(answer) ? answer["decisions"] : answer;
  return Array.isArray(list) ? list : undefined;
}

/** Adds the user's name to each decision in an answer, in place of any name that the client sent. */
export function signedBy(answer: unknown, user: string): unknown {
  const list = decisionList(answer)?.map((one) => signedBy(one, user));
  if (list) return isRecord(answer) ? { ...answer, decisions: list } : list;
  return isRecord(answer) && parseDecision(answer) ? { ...answer, by: user } : answer;
}
