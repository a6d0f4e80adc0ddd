import type { InteropZodObject } from "@langchain/core/utils/types";
import type { ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware, AnyAnnotationRoot } from "langchain";
import type { DeepAgentOptions, SubagentSpec, CreateAgent } from "../deep/index.ts";
import type { CompiledSubagent } from "../subagents/index.ts";
import type { AnyBackend, BackendRuntime } from "./backends.ts";
import type { FileData } from "./protocol.ts";
import type { AsyncSubAgent } from "./remote-agents.ts";

/** A backend made for the call at hand. */
export type BackendFactory = (runtime: BackendRuntime) => AnyBackend;

/** Allows or denies work on files. The first rule that matches decides; without one it is allowed. */
export interface FilesystemPermission {
  operations: readonly ("read" | "write")[];
  /** Globs from the root. Of what is denied, all that is below is denied, too. */
  paths: string[];
  /** Default `allow`. */
  mode?: "allow" | "deny";
}

/** A sub-agent described by its parts, with all that `SubagentSpec` of `holdfast` has. */
export interface SubAgent extends Omit<SubagentSpec, "permissions" | "skills" | "fork"> {
  /** `fork` begins with the caller's conversation. */
  mode?: "isolated" | "fork";
  /** Folders of skills in the agent's backend. */
  skills?: readonly string[];
  /** Rules in place of the caller's. */
  permissions?: FilesystemPermission[];
}

/** A sub-agent that is a graph already. */
export type CompiledSubAgent = CompiledSubagent;
/** A sub-agent of any kind. */
export type AnySubAgent = SubAgent | CompiledSubAgent | AsyncSubAgent;

/** Options of DeepAgents' `createDeepAgent`, and those of ours. */
export interface CreateDeepAgentParams extends Omit<
  DeepAgentOptions,
  "backend" | "subagents" | "permissions" | "skills" | "contextSchema"
> {
  contextSchema?: AnyAnnotationRoot | InteropZodObject;
  /** An instance, or a function that makes one for a call. Default: `StateBackend`. */
  backend?: AnyBackend | BackendFactory;
  /** Files in the backend that are part of the system prompt, such as `/AGENTS.md`. Read for every model call. */
  memory?: readonly string[];
  /** Folders of skills, or of one skill, in the backend. */
  skills?: readonly string[];
  subagents?: readonly AnySubAgent[];
  permissions?: FilesystemPermission[];
}

type FilesUpdate = Record<string, string | FileData | null> | undefined;

type FilesInState = AgentMiddleware<
  StateSchema<{ files: ReducedValue<Record<string, FileData>, FilesUpdate> }>
>;

export type CreateDeepAgent = CreateAgent<CreateDeepAgentParams, FilesInState>;
