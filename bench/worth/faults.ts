/** The ways in which the simulated model fails. */
export const FAULT_NAMES = [
  "forgets",
  "early-answer",
  "batches",
  "parallel",
  "malformed",
  "reopens",
  "ignores-dependencies",
  "claims",
  "repeats",
  "context-limit",
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

/** Which faults a run has, each with its rate. */
export type Faults = Readonly<Record<FaultName, number>>;

/** A documented failure of real models, as the simulator has it. */
export interface Fault {
  rate: number;
  /** What the rate is a share of. */
  per: string;
  does: string;
  /** Where it is documented, as `owner/repository#number`. */
  sources: readonly string[];
}

/** Every fault with its rate for the published table. The rates are assumptions; the failures are documented. */
export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  forgets: {
    rate: 0.15,
    per: "turn without plan and task in view",
    does: "takes what a summary mentions for all there was, and answers",
    sources: ["langchain-ai/deepagents#4164", "anthropics/claude-code#979", "anomalyco/opencode#5934"],
  },
  "early-answer": {
    rate: 0.04,
    per: "turn with open steps",
    does: "gives its final answer although it knows of open steps",
    sources: ["bytedance/deer-flow#2112", "anthropics/claude-code#7836", "anthropics/claude-code#1632"],
  },
  batches: {
    rate: 0.25,
    per: "task",
    does: "reports no progress while it works and marks everything at the end",
    sources: ["can1357/oh-my-pi#3651"],
  },
  parallel: {
    rate: 0.04,
    per: "plan call",
    does: "splits a plan call into two of the same turn",
    sources: ["langchain-ai/langchainjs#9761", "langchain-ai/langchain#34637", "can1357/oh-my-pi#6148"],
  },
  malformed: {
    rate: 0.06,
    per: "plan call",
    does: "sends the list as a JSON string, other names for fields or statuses, or broken JSON",
    sources: ["anomalyco/opencode#10813", "Kilo-Org/kilocode#10168", "langchain-ai/deepagents#1516"],
  },
  reopens: {
    rate: 0.03,
    per: "plan call after the first",
    does: "sets a finished item in progress again and does its work once more",
    sources: ["anthropics/claude-code#8544", "openai/codex#6077"],
  },
  "ignores-dependencies": {
    rate: 0.06,
    per: "step, where one waits for another",
    does: "does a step before the one it depends on; the call succeeds, its result is worthless",
    sources: ["anthropics/claude-code#69500", "anthropics/claude-code#26761", "langchain-ai/langchain#39944"],
  },
  claims: {
    rate: 0.04,
    per: "step",
    does: "says that a step is done without having worked on it",
    sources: ["anthropics/claude-code#14947", "anthropics/claude-code#69499"],
  },
  repeats: {
    rate: 0.02,
    per: "step",
    does: "makes the same work call again and again; one time in five it never stops by itself",
    sources: ["langchain-ai/langgraph#6731", "langchain-ai/langgraph#4231", "earendil-works/pi#6158"],
  },
  "context-limit": {
    rate: 0.5,
    per: "task",
    does: "has a small window: LangChain's summarization replaces all but the last messages",
    sources: ["langchain-ai/deepagents#4164", "sudoprivacy/sudocode#676"],
  },
};

/** How often the model does what a refusal or a reminder tells it. */
export const COMPLIANCE = 0.85;
/** How often a repetition goes on for another turn, and how many of them never end by themselves. */
export const STAYS_REPEATING = 0.75;
export const REPEATS_FOR_EVER = 0.2;
/** The share of open steps that a summary leaves out. */
export const SUMMARY_LOSS = 0.3;

/** All faults off. */
export const NO_FAULTS: Faults = ratesOf(() => 0);
/** All faults at their published rates. */
export const ALL_FAULTS: Faults = ratesOf((name) => FAULTS[name].rate);

/** One fault alone at its published rate. Forgetting shows only where something leaves the window. */
export function onlyFault(name: FaultName): Faults {
  return ratesOf((other) =>
    other === name || (name === "forgets" && other === "context-limit") ? FAULTS[other].rate : 0,
  );
}

function ratesOf(rate: (name: FaultName) => number): Faults {
  return Object.fromEntries(FAULT_NAMES.map((name) => [name, rate(name)])) as unknown as Faults;
}
