import type { ReactNode } from "react";
import { tokensOf, type AgentView } from "../../../src/runs/view.ts";
import type { Helper, ThreadState } from "../model/thread.ts";
import { agentOf } from "../model/thread.ts";
import { amount, duration, inSight } from "../model/words.ts";
import { Markdown } from "./markdown.tsx";
import { useNow } from "./use-store.ts";

/** A sub-agent in its parent's conversation: what it is for, and all that it said and did on demand. */
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
        <HelperFacts helper={helper} agent={agentOf(thread, owner)} />
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
export function HelperFacts({ helper, agent }: { helper: Helper; agent: AgentView | undefined }) {
  const { endedAt, ok, model, startedAt } = helper;
  const now = useNow(endedAt === undefined);
  const tokens = agent ? tokensOf(agent.usage) : 0;
  const state = endedAt === undefined ? "Working" : ok ? "Done" : "Failed";
  const facts = [
    state,
    model,
    duration((endedAt ?? now) - startedAt),
    tokens > 0 && `${amount(tokens)} tokens`,
  ];
  return (
    <span className={`facts facts-${state.toLowerCase()}`}>
      {facts
        .filter((fact): fact is string => Boolean(fact))
        .map(inSight)
        .join(" · ")}
    </span>
  );
}

/** What a sub-agent handed back: the result of the call that started it, unless it was its last words. */
function reportOf({ entries }: ThreadState, owner: string): string | undefined {
  const call = entries.find(
    (entry) =>
      entry.kind === "call" && owner.startsWith(`${entry.owner}/`) && owner.endsWith(`:${entry.call}`),
  );
  const report = call?.kind === "call" ? (call.output ?? call.result) : undefined;
  const isSaid = entries.some(
    (entry) => entry.kind === "text" && entry.owner === owner && entry.text === report,
  );
  return isSaid ? undefined : report;
}
