import { inSight } from "../../../../src/threads/log/words.ts";
import { PRESET_NAMES } from "../../../../src/vocabulary.ts";
import type { Settings } from "../../client/contract.ts";
import { usePage } from "../use-store.ts";
import { EffortChoice, ModeChoice, modeOf } from "./thread-options.tsx";

interface OptionsProps {
  settings: Settings;
  /** Gets a function of the current settings, as two changes may happen before a render. */
  onSettings: (change: (settings: Settings) => Settings) => void;
}

/** A choice of the new thread's graph, if the server has several. */
function GraphChoice({ settings, onSettings }: OptionsProps) {
  const { graphs = [] } = usePage().info ?? {};
  if (graphs.length < 2) return null;
  return (
    <label className="options">
      Agent{" "}
      <select
        value={settings.graph ?? graphs[0]}
        onChange={({ currentTarget: { value } }) => onSettings((now) => ({ ...now, graph: value }))}
      >
        {graphs.map((graph) => (
          <option key={graph} value={graph}>
            {graph}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Settings of a new thread. Defaults are the server's. */
export function TaskOptions({ settings, onSettings }: OptionsProps) {
  const { info } = usePage();
  if (info && !info.defaults) return <GraphChoice settings={settings} onSettings={onSettings} />;
  const defaults = info?.defaults ?? {};
  const current = { ...defaults, ...settings };
  return (
    <details className="options">
      <summary>
        Options
        <span className="options-now">
          {info ? inSight([info.model, info.dir].filter(Boolean).join(" · ")) : ""}
        </span>
      </summary>
      <div className="options-grid">
        <label>
          Model
          <input
            placeholder={info?.model}
            value={settings.model ?? ""}
            onInput={({ currentTarget: { value } }) =>
              onSettings(({ model: _model, ...rest }) => (value ? { ...rest, model: value } : rest))
            }
          />
        </label>
        <label>
          Show me the plan first
          <select
            value={current.approve ?? "never"}
            onChange={({ currentTarget: { value } }) => onSettings((now) => ({ ...now, approve: value }))}
          >
            <option value="never">Never</option>
            <option value="first">The first plan</option>
            <option value="always">Each new plan</option>
          </select>
        </label>
        <label>
          Planning
          <select
            value={current.plan === false ? "none" : (current.preset ?? "lean")}
            onChange={({ currentTarget: { value } }) =>
              onSettings((now) =>
                value === "none" ? { ...now, plan: false } : { ...now, plan: true, preset: value },
              )
            }
          >
            {PRESET_NAMES.map((preset) => (
              <option key={preset} value={preset}>
                {preset}
              </option>
            ))}
            <option value="none">no plan</option>
          </select>
        </label>
        <EffortChoice
          effort={current.effort}
          onEffort={(effort) => onSettings((now) => ({ ...now, effort }))}
        />
        <ModeChoice mode={modeOf(current)} onMode={(mode) => onSettings((now) => ({ ...now, mode }))} />
        {defaults.shell && (
          <label className="check">
            <input
              type="checkbox"
              checked={current.shell ?? false}
              onChange={({ currentTarget: { checked } }) => onSettings((now) => ({ ...now, shell: checked }))}
            />
            It may run commands
          </label>
        )}
      </div>
    </details>
  );
}
