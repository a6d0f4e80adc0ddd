import type { Mode } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { PrepareOptions, RunSettings } from "../../../threads/prepare/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import type { ServerParts } from "../http/index.ts";

export interface PageOptions {
  saver: ThreadStore;
  /** Settings of Holdfast's own threads; absent where the page's threads run on graphs of a user's own. */
  own?: OwnThreads;
}

/** Choices that the page offers for Holdfast's own threads. */
export interface OwnThreads {
  /** Settings of a new thread. */
  defaults: Omit<RunSettings, "model"> & { model?: string | undefined };
  /** The mode of a new thread: of settings files, where nobody has chosen one. */
  mode: () => Promise<Mode>;
  /** The model that new threads get. */
  model: string;
  /** Finds a model by its name. Throws where there is none, or it lacks something. */
  modelOf: PrepareOptions["modelOf"];
  prices?: Prices | undefined;
}

export interface PageParts extends ServerParts, PageOptions {}
