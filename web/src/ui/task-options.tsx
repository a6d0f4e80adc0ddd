import { inSight } from "../../../src/runs/story/words.ts";
import type { Settings } from "../client/contract.ts";
import { usePage } from "./use-store.ts";

const PRESETS = ["lean", "classic", "deerflow", "checklist"];
const WRITING = ["write_file", "edit_file", "delete_file", "execute"];

/** How a new thread is run; whatever is left alone is as the server was started. */
export function TaskOptions({
  settings,
  onSettings,
}: {
  settings: Settings;
  onSettings: (settings: Settings) => void;
}) {
  const { info } = usePage();
  const defaults = info?.defaults ?? {};
  const current = { ...defaults, ...settings };
  const asks = (current.ask ?? []).length > 0;
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
            onInput={({ currentTarget: { value } }) => {
              const { model: _, ...rest } = settings;
              onSettings(value ? { ...rest, model: value } : rest);
            }}
          />
        </label>
        <label>
          Show me the plan first
          <select
            value={current.approve ?? "never"}
            onChange={(event) => onSettings({ ...settings, approve: event.currentTarget.value })}
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
              onSettings(
                value === "none" ? { ...settings, plan: false } : { ...settings, plan: true, preset: value },
              )
            }
          >
            {PRESETS.map((preset) => (
              <option key={preset} value={preset}>
                {preset}
              </option>
            ))}
            <option value="none">no plan</option>
          </select>
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={asks}
            onChange={(event) => onSettings({ ...settings, ask: event.currentTarget.checked ? WRITING : [] })}
          />
          Ask me before files change and commands run
        </label>
        {defaults.shell && (
          <label className="check">
            <input
              type="checkbox"
              checked={current.shell ?? false}
              onChange={(event) => onSettings({ ...settings, shell: event.currentTarget.checked })}
            />
            It may run commands
          </label>
        )}
      </div>
    </details>
  );
}
