import type { BaseStore } from "@langchain/langgraph";
import type { FileBackend, PermissionRule, StateBackend } from "../../files/index.ts";
import type { Media } from "./media.ts";
import type { FileToolName } from "./schemas.ts";

/** Arguments of a function that makes a backend for each call. */
export interface BackendContext {
  /** The files in the graph state. */
  state: StateBackend;
  /** The store of the graph, where it has one. */
  store: BaseStore | undefined;
  /** A run without a thread has an id of its own. */
  threadId: string;
}

/** A backend, or a function that makes one for the call at hand. */
export type BackendOption = FileBackend | ((context: BackendContext) => FileBackend);

/** Where an agent's files are, and who may do what. */
export interface WorkspaceOptions {
  /** Default: the files are in the graph state. */
  backend?: BackendOption;
  permissions?: readonly PermissionRule[];
  /** Whether a backend that is made per call can run commands. Others are asked. */
  canExecute?: boolean;
  /** Hold back a write that would lose text which the agent has not seen and nothing else has kept. Default true. */
  readFirst?: boolean;
}

/** A file tool, with a description of its own if the usual one will not do. */
export type FileToolChoice = FileToolName | { name: FileToolName; description?: string };

/** Options of `filesMiddleware`. */
export interface FilesOptions extends WorkspaceOptions {
  /** The file tools that there are, in this order; one with a description of its own as `{ name, description }`. Default: all. */
  fileTools?: readonly FileToolChoice[];
  /** The media that the model takes in `read_file`: images, PDFs. Default: by its profile. */
  media?: readonly Media[];
  /** Replaces the addition to the system prompt. */
  systemPrompt?: string;
  /**
   * Tool results with more characters are saved to a file and shown in part, lists of files only in part; `false`
   * shows all that a tool gives. Default 40,000.
   */
  resultLimit?: number | false;
  /** Where they are saved. Default `/tool_results`. */
  resultFolder?: string;
}
