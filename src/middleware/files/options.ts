import type { BaseStore } from "@langchain/langgraph";
import type { FileBackend, PermissionRule, StateBackend } from "../../files/index.ts";
import type { Media } from "./media.ts";
import type { FileToolName } from "./schemas.ts";

/** The argument of a function that creates a backend for each call. */
export interface BackendContext {
  /** The files in the graph state. */
  state: StateBackend;
  /** The store of the graph, if it has one. */
  store: BaseStore | undefined;
  /** The thread's id; for a run without a thread an id of its own. */
  threadId: string;
}

/** A backend, or a function that creates one for each call. */
export type BackendOption = FileBackend | ((context: BackendContext) => FileBackend);

/** Options of an agent's files: their backend, and what may be done with them. */
export interface WorkspaceOptions {
  /** Default: the files are in the graph state. */
  backend?: BackendOption;
  permissions?: readonly PermissionRule[];
  /** Whether a backend that is created per call can run commands. Other backends know it themselves. */
  canExecute?: boolean;
  /** Hold back a write that would lose text that the agent has not seen and that is stored nowhere else. Default true. */
  readFirst?: boolean;
}

/** A file tool, with a description that replaces the default. */
export type FileToolChoice = FileToolName | { name: FileToolName; description?: string };

/** Options of `filesMiddleware`. */
export interface FilesOptions extends WorkspaceOptions {
  /** The file tools, in this order. Default: all. */
  fileTools?: readonly FileToolChoice[];
  /** The media that the model accepts from `read_file`: images, PDFs. Default: by its profile. */
  media?: readonly Media[];
  /** Replaces the addition to the system prompt. */
  systemPrompt?: string;
  /**
   * Tool results with more characters are saved to a file and shown in part; lists of files are only cut. `false` shows
   * all of a result. Default 40,000.
   */
  resultLimit?: number | false;
  /** The folder for long results. Default `/tool_results`. */
  resultFolder?: string;
}
