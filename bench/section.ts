/** What every section of the benchmark is given. */
export interface SectionOptions {
  /** Fewer sizes and repetitions: all sections together end within a minute. */
  quick: boolean;
  /** Changes whatever a section draws at random. */
  seed: number;
  /** Says on the terminal how far the section is. */
  progress: (text: string) => void;
}

/** A figure and what it is meant to be. */
export interface SectionGoal {
  name: string;
  value: number;
  limit: number;
  /** Whether the value has to be at most or at least the limit. */
  bound: "at most" | "at least";
  met: boolean;
}

/** A figure as an SVG picture, written beside RESULTS.md and shown in it where the Markdown names the file. */
export interface SectionPlot {
  file: string;
  svg: string;
}

/** What every section gives back, whatever it measured. */
export interface Section {
  name: string;
  /** One line per figure: `name value ratio-vs-peer`. */
  lines: string[];
  goals: SectionGoal[];
  /** Begins with a heading of the second level. */
  markdown: string;
  /** Goes into results.json under the section's name. */
  data: unknown;
  plots: SectionPlot[];
}

/** Compares a value with its limit. */
export function goalOf({
  name,
  value,
  limit,
  bound = "at most",
}: Omit<SectionGoal, "met" | "bound"> & { bound?: SectionGoal["bound"] }): SectionGoal {
  return { name, value, limit, bound, met: bound === "at most" ? value <= limit : value >= limit };
}
