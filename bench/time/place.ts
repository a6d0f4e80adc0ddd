/** A place to keep checkpoints for one run. */
export interface Place {
  /** The saver, as another process would open it. Closes the one opened before. */
  open: () => Promise<unknown>;
  /** What is stored once the saver is closed; undefined where nothing is on disk. */
  close: () => Promise<number | undefined>;
  remove: () => Promise<void>;
}

export interface SaverKind {
  name: string;
  create: () => Promise<Place>;
}
