import type { ReactNode } from "react";
import type { Helper, ThreadState } from "../../../../src/threads/log/thread.ts";
import { agentOf } from "../../../../src/threads/log/thread.ts";
import { amount, duration, inSight } from "../../../../src/threads/log/words.ts";
import { tokensOf } from "../../../../src/threads/view/view.ts";
import { useNow } from "../use-store.ts";
import { Markdown } from "./story-nodes.tsx";

/** A sub-agent in its parent's conversation: its task, and its own conversation on demand. */
export function HelperCard({
  thread,
  owner,
  children,
}: {
  thread: ThreadState;
  owner: string;
  /** Its own conversation. */
  children: ReactNode;
}) {
  const helper = thread.helpers.get(owner);
  if (!helper) return null;
  const report = reportOf(thread, owner);
  return (
    <details className="helper">
      <summary>
        <span className="helper-name">{inSight(helper.name)}</span>
        <span className="helper-about">{inSight(helper.description)}</span>
        <HelperFacts helper={helper} thread={thread} />
      </summary>
      <div className="helper-body">
        {children}
        {helper.error && <p className="problem">{inSight(helper.error)}</p>}
        {report && (
          <>
            <p className="label">Its report</p>
            <Markdown text={report} />
          </>
        )}
      </div>
    </details>
  );
}

/** Status, model, time and tokens of a sub-agent. */
export function HelperFacts({ helper, thread }: { helper: Helper; thread: ThreadState }) {
  const { endedAt, model, startedAt } = helper;
  const isWorking = endedAt === undefined && thread.isRunning;
  const now = useNow(isWorking);
  const until = endedAt ?? (isWorking ? now : (thread.end?.at ?? now));
  const { usage } = agentOf(thread, helper.owner) ?? {};
  const tokens = usage ? tokensOf(usage) : 0;
  const state = stateOf(helper, thread);
  const facts = [
    state,
    model,
    duration(until - startedAt),
    ...(tokens > 0 ? [`${amount(tokens)} tokens`] : []),
  ];
  return (
    <span className={`facts word-${state.toLowerCase()}`}>
      {facts
        .filter((fact) => fact !== "")
        .map(inSight)
        .join(" · ")}
    </span>
  );
}

function stateOf({ endedAt, ok, isPartial }: Helper, { isRunning, questions }: ThreadState): string {
  if (endedAt !== undefined) return ok ? "Done" : isPartial ? "Partial" : "Failed";
  if (isRunning) return "Working";
  return questions.length > 0 ? "Waits" : "Stopped";
}

/** A sub-agent's report: the result of the call that started it, unless it only repeats its last text. */
function reportOf({ entries }: ThreadState, owner: string): string | undefined {
  const call = entries.find(
    (entry) =>
      entry.kind === "call" && owner.startsWith(`${entry.owner}/`) && owner.endsWith(`:${entry.call}`),
  );
  const report = call?.kind === "call" ? (call.output ?? call.result) : undefined;
  const isRepeated = entries.some(
    (entry) =>
      entry.kind === "text" &&
      entry.owner === owner &&
      entry.text !== "" &&
      report?.endsWith(`\n${entry.text.trim()}`),
  );
  return isRepeated ? undefined : report;
}
