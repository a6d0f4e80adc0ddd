import { getCurrentTaskInput, type BaseCheckpointSaver } from "@langchain/langgraph";
import { pathMeant } from "../../files/disk/index.ts";
import { FROZEN_FILES } from "../../files/index.ts";
import { compileRules, isObeyedFile, namesObeyedFile } from "../../files/paths/index.ts";
import { PREFIX, type McpServers } from "../../mcp/index.ts";
import type { ConsentRule } from "../../middleware/consent/index.ts";
import { ownerOf, isApproved, filesIn, readPlanState } from "../../middleware/plan/index.ts";
import { isMutation } from "../../middleware/tools/index.ts";
import {
  allowing,
  catching,
  compileRule,
  type Rule,
  type RuledCall,
  type Config,
} from "../../project/index.ts";
import { type Mode } from "../../vocabulary.ts";
import { CONSENT_REASONS } from "./consent-rules.prompt.ts";
import { isReadingCommand } from "./reading-commands.ts";

/** Rules that the user may change during a run. Each call is checked by their current value. */
export interface LiveRules {
  readonly mode: Mode;
  /** Additional rules for allowed calls. */
  readonly allow: readonly string[];
}

interface ConsentRulesOptions {
  mode: Mode;
  live?: LiveRules;
  rules: Pick<Config, "allow" | "ask" | "deny">;
  /** All tools but the plan's. */
  tools: readonly string[];
  /** The tools among them that only read. */
  reading: readonly string[];
  /** MCP servers, whose tools are known only when they are called. */
  servers?: Pick<McpServers, "isReadOnly" | "changeOf">;
  /** The real path of the file tools' directory, if they have one. */
  dir?: string;
  /** Whether someone can be asked. If not, calls that need consent are refused. */
  canAsk: boolean;
  /** For sub-agents that continue after a stop: they read their parent's plan from it. */
  checkpointer?: BaseCheckpointSaver;
}

const FROZEN = compileRules([FROZEN_FILES]);

type Verdict = "allow" | "ask" | { refused: string };
type RefusableCall = Parameters<NonNullable<ConsentRule["refuse"]>>[0];

/**
 * The consent rules of each tool, from a mode and rules: deny wins over ask, ask over allow, and the mode decides about
 * calls that no rule matches.
 */
export function consentRules(options: ConsentRulesOptions): Record<string, ConsentRule> {
  const { live, canAsk, tools, reading, servers } = options;
  const compiled = (list: readonly string[] = []): Rule[] => list.map(compileRule);
  const allow = compiled(options.rules.allow);
  const ask = compiled(options.rules.ask);
  const deny = compiled(options.rules.deny);
  const phase = new PlanPhase(options.checkpointer);

  const verdict = async (request: RefusableCall): Promise<Verdict> => {
    const { mode } = live ?? options;
    const { name } = request.toolCall;
    const call = ruledCall(request.toolCall, options.dir);
    const granted = [...allow, ...(live?.allow ?? []).map(compileRule)];
    const denial = catching(deny, granted, call);
    if (denial) {
      const reason = denial.isUnclear(call) ? CONSENT_REASONS.unclear : CONSENT_REASONS.denied;
      return { refused: reason.replace("{rule}", () => denial.text) };
    }
    const isRead =
      reading.includes(name) ||
      (name.startsWith(PREFIX) && servers?.isReadOnly(name) === true) ||
      (mode === "plan" && call.command !== undefined && isReadingCommand(call.command));
    const isWrite = isMutation(name);
    // The file tools refuse frozen files themselves, so no one is asked.
    if (isWrite && options.dir !== undefined && !FROZEN.check("write", call.path ?? "").allowed)
      return "allow";
    // A plan counts as approved only if the run started in plan mode: otherwise no one was asked.
    const isPlanning = mode === "plan" && !(options.mode === "plan" && (await phase.isWorking(request)));
    if (isPlanning && !isRead && name !== "task") return { refused: CONSENT_REASONS.planFirst };
    // The tool has changed since it was allowed.
    if (servers?.changeOf(name) !== undefined) return "ask";
    if (catching(ask, granted, call)) return "ask";
    const allowedBy = allowing(granted, call);
    if (isWrite && mode !== "auto" && options.dir !== undefined && isObeyedFile(call.path ?? "")) {
      // A rule for the folder around it is not enough.
      return allowedBy.some(({ paths }) => isObeyedFile(paths ?? "")) ? "allow" : "ask";
    }
    const isServed = name.startsWith(PREFIX) && !isRead;
    if (isServed && mode !== "auto" && (call.about ?? []).some(namesObeyedFile)) return "ask";
    if (allowedBy.length > 0 || isRead || name === "task" || mode === "auto") return "allow";
    if (!isWrite || mode === "ask") return "ask";
    return mode === "plan" && phase.isOutsidePlan(call.path ?? "") ? "ask" : "allow";
  };

  const rule: ConsentRule = {
    allowedDecisions: ["approve", "edit", "reject"],
    notice: ({ name }) => servers?.changeOf(name),
    when: async (request) => canAsk && (await verdict(request)) === "ask",
    refuse: async (request) => {
      const result = await verdict(request);
      if (typeof result === "object") return result.refused;
      return result === "ask" && !canAsk ? CONSENT_REASONS.nobody : undefined;
    },
  };
  // Only tools that may need consent or be refused get a rule: it costs a read of the thread before each call.
  const isConcerned = (tool: string): boolean => {
    const { mode } = options;
    if (live && !reading.includes(tool)) return true;
    if ([...ask, ...deny].some(({ names }) => names(tool))) return true;
    if (mode === "auto" || reading.includes(tool)) return false;
    if (tool === "task") return mode === "plan";
    return mode !== "edits" || !isMutation(tool) || options.dir !== undefined;
  };
  const concerned = tools.filter(isConcerned);
  return Object.fromEntries([...concerned, ...(servers ? [`${PREFIX}*`] : [])].map((tool) => [tool, rule]));
}

/** The phase of plan mode: work has started while an approved plan is open. */
class PlanPhase {
  readonly #checkpointer: BaseCheckpointSaver | undefined;
  /** Values of the main agent's plan, for its sub-agents, too: these have plans of their own. */
  #isWorking: boolean | undefined;
  #files: readonly string[] = [];

  constructor(checkpointer: BaseCheckpointSaver | undefined) {
    this.#checkpointer = checkpointer;
  }

  async isWorking({ runtime }: RefusableCall): Promise<boolean> {
    // Not from the request: a middleware sees only its own fields there.
    if (ownerOf(runtime, "main") === "main") return this.#look(getCurrentTaskInput());
    return this.#isWorking ?? this.#look(await this.#saved(runtime));
  }

  /** Whether the plan names files, and this one is not among them. */
  isOutsidePlan(path: string): boolean {
    const isNamed = (file: string): boolean => `/${path}`.endsWith(`/${file.replace(/^[./]+/, "")}`);
    return this.#files.length > 0 && !this.#files.some(isNamed);
  }

  #look(state: unknown): boolean {
    const { todos } = readPlanState(state);
    this.#files = todos.flatMap(({ content }) => filesIn(content));
    return (this.#isWorking = isApproved(state));
  }

  async #saved({ configurable }: RefusableCall["runtime"]): Promise<unknown> {
    const { thread_id } = (configurable ?? {}) as { thread_id?: string };
    const tuple = await this.#checkpointer?.getTuple({ configurable: { thread_id, checkpoint_ns: "" } });
    return tuple?.checkpoint.channel_values;
  }
}

/** A call in the form that rules are matched with. */
export function ruledCall(
  { name, args }: { name: string; args: Record<string, unknown> },
  dir: string | undefined,
): RuledCall {
  const text = (key: string): string | undefined => (typeof args[key] === "string" ? args[key] : undefined);
  const path = text("file_path") ?? text("path");
  return {
    tool: name,
    command: name === "execute" ? (text("command") ?? "") : undefined,
    dir,
    // A path may be one of the host.
    path: path === undefined || dir === undefined ? path : (pathMeant(path, dir) ?? path),
    about: aboutOf(name, args),
  };
}

/** Other texts that identify a call's target: for an MCP tool all of its texts. */
function aboutOf(name: string, args: Record<string, unknown>): string[] {
  if (name.startsWith(PREFIX)) return wordsIn(args);
  const { subagent_type, pattern, url, query } = args;
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url).href : url;
  return [subagent_type, pattern, address, query].filter((value) => typeof value === "string").slice(0, 1);
}

function wordsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(wordsIn) : [];
}
