/**
 * What a command does with arguments that are known. `inert`: it runs no other program, and writes no file that other
 * programs obey. `code`: it runs code of the project, such as its tests. `files`: it may write any file of the project.
 */
export type Deed = "inert" | "code" | "files";

/** A program, or one of its subcommands, with the arguments whose effect is known. */
export interface Known {
  deed: Deed | ((args: readonly string[]) => Deed);
  /**
   * The known options: `-abc` are flags, which may be clustered; `-n:` takes a value; `-#` stands for digits; `--long`
   * may have a value, `--long=value` only that one. `*` stands for any option.
   */
  options: string;
  /** Options are whole words after one dash. */
  isSingleDash?: boolean;
  /** Whether the words that are no options are known. Default: any are. */
  words?: (words: readonly string[]) => boolean;
  /** The remote that the words name. */
  remote?: (words: readonly string[]) => string | undefined;
  /** Whether the code that runs has a usual name, such as `test`. Default: it has. */
  isUsual?: (words: readonly string[]) => boolean;
}

export interface KnownProgram {
  /** Options that may stand before the subcommand. */
  before: string;
  /** By the first word, or the first two. */
  subcommands: Readonly<Record<string, Known>>;
}
