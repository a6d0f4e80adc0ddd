import type { CallEntry } from "../../../../src/threads/story/entries.ts";
import { duration, failureWord, inSight } from "../../../../src/threads/story/words.ts";
import { useNow } from "../use-store.ts";
import { Arguments } from "./diff.tsx";

/** A tool call: a line, and all of it on demand. */
export function Call({ entry }: { entry: CallEntry }) {
  const { name, about, ok, endedAt, cutAt, result, output, exitCode, args } = entry;
  const isRunning = endedAt === undefined && cutAt === undefined;
  const state = isRunning ? "running" : ok === false ? "failed" : "done";
  return (
    <details className={`call call-${state}`}>
      <summary>
        <span className="call-name">{inSight(name)}</span>
        <span className="call-about">{inSight(about)}</span>
        <span className="call-state">
          <CallState entry={entry} />
        </span>
      </summary>
      <div className="call-body">
        <Arguments name={name} args={args} />
        {exitCode !== undefined && (
          <p className="note">{exitCode === null ? "It was stopped." : `Exit code ${exitCode}.`}</p>
        )}
        {(output ?? result) ? <pre tabIndex={0}>{inSight(output ?? result ?? "")}</pre> : null}
      </div>
    </details>
  );
}

function CallState({ entry: { at, endedAt, cutAt, ok, verdict } }: { entry: CallEntry }) {
  const now = useNow(endedAt === undefined && cutAt === undefined);
  if (endedAt === undefined && cutAt !== undefined) return <>stopped</>;
  if (endedAt === undefined) return <>{`running, ${duration(now - at)}`}</>;
  const time = endedAt - at >= 1000 ? duration(endedAt - at) : "";
  const failure = failureWord({ ok: ok === true, verdict });
  if (failure) return <>{time ? `${failure}, ${time}` : failure}</>;
  return <>{time || "done"}</>;
}
