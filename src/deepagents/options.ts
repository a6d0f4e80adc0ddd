import type { SystemMessage } from "@langchain/core/messages";
import type { InteropZodObject } from "@langchain/core/utils/types";
import type { ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware, AnyAnnotationRoot } from "langchain";
import type { DeepAgentOptions, SubagentSpec, CreateAgent } from "../deep/index.ts";
import type { CompiledSubagent } from "../subagents/index.ts";
import type { AnyBackend, BackendRuntime } from "./backends.ts";
import type { FileData } from "./protocol.ts";
import type { AsyncSubAgent } from "./remote-agents.ts";

/** Creates a backend for the current call. */
export type BackendFactory = (runtime: BackendRuntime) => AnyBackend;

/** Allows or denies operations on files. The first matching rule decides; without a match they are allowed. */
export interface FilesystemPermission {
  operations: readonly ("read" | "write")[];
  /** Globs from the root. A deny rule also covers everything below its matches. */
  paths: string[];
  /** Default `allow`. */
  mode?: "allow" | "deny";
}

/** A sub-agent that is built from options: those of DeepAgents and of `SubagentSpec`. */
export interface SubAgent extends Omit<SubagentSpec, "permissions" | "skills" | "fork"> {
  /** `fork` starts with the caller's conversation. */
  mode?: "isolated" | "fork";
  /** Folders of skills in the agent's backend. */
  skills?: readonly string[];
  /** Rules in place of the caller's. */
  permissions?: FilesystemPermission[];
}

/** A sub-agent that is an existing graph. */
export interface CompiledSubAgent extends Omit<CompiledSubagent, "fork"> {
  /** `fork` starts with the caller's conversation. */
  mode?: "isolated" | "fork";
}
/** A sub-agent of any kind. */
export type AnySubAgent = SubAgent | CompiledSubAgent | AsyncSubAgent;

/** A system prompt in parts, which are joined. The sections of middleware, such as those about tools, follow the suffix. */
export interface SystemPromptConfig {
  prefix?: string | SystemMessage | null;
  base?: string | SystemMessage | null;
  suffix?: string | SystemMessage | null;
}

/** Options of DeepAgents' `createDeepAgent` and of ours. */
export interface CreateDeepAgentParams extends Omit<
  DeepAgentOptions,
  "backend" | "subagents" | "permissions" | "skills" | "contextSchema" | "systemPrompt"
> {
  systemPrompt?: string | SystemMessage | SystemPromptConfig;
  contextSchema?: AnyAnnotationRoot | InteropZodObject;
  /** A backend, or a function that creates one for a call. Default: `StateBackend`. */
  backend?: AnyBackend | BackendFactory;
  /** Files in the backend that are added to the system prompt, such as `/AGENTS.md`. Read for every model call. */
  memory?: readonly string[];
  /** Folders of skills, or of one skill, in the backend. */
  skills?: readonly string[];
  subagents?: readonly AnySubAgent[];
  permissions?: FilesystemPermission[];
}

/** An update of the field `files`. */
export type FilesUpdate = Record<string, string | FileData | null> | undefined;

type FilesInState = AgentMiddleware<
  StateSchema<{ files: ReducedValue<Record<string, FileData>, FilesUpdate> }>
>;

export type CreateDeepAgent = CreateAgent<CreateDeepAgentParams, FilesInState>;
