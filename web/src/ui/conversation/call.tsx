import { fieldText, shownArguments } from "../../../../src/threads/story/arguments.ts";
import type { CallEntry } from "../../../../src/threads/story/entries.ts";
import { duration, failureWord, inSight } from "../../../../src/threads/story/words.ts";
import { useNow } from "../use-store.ts";
import { Diff } from "./diff.tsx";

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

/** The arguments of a call, as they are easiest to read. */
export function Arguments({ name, args }: { name: string; args: unknown }) {
  if (args === undefined) return null;
  // Arguments that could not be read stand as they came.
  if (typeof args !== "object" || args === null) return <pre tabIndex={0}>{inSight(fieldText(args))}</pre>;
  const shown = shownArguments(name, args as Record<string, unknown>);
  switch (shown.type) {
    case "command":
      return (
        <>
          <pre tabIndex={0} className="command">
            {inSight(shown.command)}
          </pre>
          <Fields fields={shown.rest} />
        </>
      );
    case "write":
      return (
        <>
          <p className="path">{inSight(shown.path)}</p>
          <pre tabIndex={0}>{inSight(shown.content)}</pre>
        </>
      );
    case "edit":
      return (
        <>
          <p className="path">
            {inSight(shown.path)}
            {shown.isEverywhere && " (everywhere)"}
          </p>
          <Diff before={shown.before} after={shown.after} label={`Changes in ${inSight(shown.path)}`} />
        </>
      );
    case "fields":
      return <Fields fields={shown.fields} />;
  }
}

function Fields({ fields }: { fields: [string, string][] }) {
  if (fields.length === 0) return null;
  return (
    <dl className="fields">
      {fields.map(([field, value]) => (
        <div key={field}>
          <dt>{inSight(field)}</dt>
          <dd>{inSight(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
