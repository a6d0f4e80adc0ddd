export type RegionName = "threads" | "talk" | "plan" | "files";

const NAMES: Readonly<Record<RegionName, string>> = {
  threads: "Threads",
  talk: "Talk",
  plan: "Plan",
  files: "Files",
};

/** The regions of a narrow page, one at a time. */
export function Tabs({
  region,
  onRegion,
  asks,
}: {
  region: RegionName;
  onRegion: (region: RegionName) => void;
  /** A question waits in the conversation, which is not shown. */
  asks: boolean;
}) {
  return (
    <nav className="tabs" aria-label="Parts of the page">
      {(Object.keys(NAMES) as RegionName[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-current={region === name ? "page" : undefined}
          onClick={() => onRegion(name)}
        >
          {NAMES[name]}
          {name === "talk" && asks && <span className="badge">asks</span>}
        </button>
      ))}
    </nav>
  );
}
