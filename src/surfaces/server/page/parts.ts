import type { ThreadStore } from "../../../storage/index.ts";
import type { PrepareOptions, RunSettings } from "../../../threads/prepare/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import { type Mode } from "../../../vocabulary.ts";
import type { ServerParts } from "../http/index.ts";

export interface PageOptions {
  saver: ThreadStore;
  /** Settings of Holdfast's own threads; absent on a server of users' graphs. */
  own?: OwnThreads;
}

/** Choices on the page for Holdfast's own threads. */
export interface OwnThreads {
  defaults: Omit<RunSettings, "model"> & { model?: string };
  /** The mode of a new thread: chosen at the start of the server, or from settings files. */
  mode: () => Promise<Mode>;
  model: string;
  /** Finds a model by name. Throws for an unknown one, or one that lacks a key or a package. */
  modelOf: PrepareOptions["modelOf"];
  prices?: Prices;
  /** Stores rules that a user has allowed in a directory; absent where users share it. */
  allow?: AllowRules;
}

export type AllowRules = (dir: string, rules: readonly string[]) => Promise<void>;

export interface PageParts extends ServerParts, PageOptions {}
