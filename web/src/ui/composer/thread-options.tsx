import { EFFORTS, type Effort, MODES, type Mode } from "../../../../src/vocabulary.ts";
import { type Settings } from "../../client/contract.ts";
import { changeSettings } from "../../store/actions.ts";
import { usePage, useStore } from "../use-store.ts";

const MODE_TEXTS: Record<Mode, string> = {
  plan: "Plan: reads only until I approve a plan",
  ask: "Ask before files change and commands run",
  edits: "Ask before commands run",
  auto: "Ask nothing",
};

/** The mode in some settings; `edits` by default, as on the server. */
export function modeOf({ mode = "edits" }: Settings): Mode {
  return mode;
}

/** A choice of the current mode and those that ask at least as much as the server's default. */
export function ModeChoice({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  const { info } = usePage();
  const laxest = MODES.indexOf(modeOf(info?.defaults ?? {}));
  return (
    <label>
      Mode
      <select value={mode} onChange={({ currentTarget: { value } }) => onMode(value as Mode)}>
        {MODES.filter((one, at) => one === mode || at <= laxest).map((one) => (
          <option key={one} value={one}>
            {MODE_TEXTS[one]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice of the model's effort, which cannot be unset once chosen. */
export function EffortChoice({
  effort,
  onEffort,
}: {
  effort: Effort | undefined;
  onEffort: (effort: Effort) => void;
}) {
  return (
    <label>
      Thinking
      <select value={effort ?? ""} onChange={({ currentTarget: { value } }) => onEffort(value as Effort)}>
        {effort === undefined && <option value="">As the model decides</option>}
        {EFFORTS.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Settings of the open thread and its next task. */
export function ThreadOptions({
  isCompact,
  onCompact,
}: {
  isCompact: boolean;
  onCompact: (isCompact: boolean) => void;
}) {
  const store = useStore();
  const { settings } = usePage();
  const mode = modeOf(settings);
  return (
    <details className="options">
      <summary>
        Options
        <span className="options-now">{[settings.model, mode].filter(Boolean).join(" · ")}</span>
      </summary>
      <div className="options-grid">
        <label>
          Model
          <input
            key={settings.model}
            defaultValue={settings.model ?? ""}
            onBlur={({ currentTarget: { value } }) => {
              const model = value.trim();
              if (model !== "" && model !== settings.model) void changeSettings(store, { model });
            }}
          />
        </label>
        <EffortChoice
          effort={settings.effort}
          onEffort={(effort) => void changeSettings(store, { effort })}
        />
        <ModeChoice mode={mode} onMode={(chosen) => void changeSettings(store, { mode: chosen })} />
        <label className="check">
          <input
            type="checkbox"
            checked={isCompact}
            onChange={({ currentTarget: { checked } }) => onCompact(checked)}
          />
          Summarize the conversation first
        </label>
      </div>
    </details>
  );
}
