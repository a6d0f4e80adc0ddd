import { type Status } from "../../../vocabulary.ts";
import { coloured, type Harmless, type Style } from "./harmless.ts";

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: Harmless) => Harmless;

/** The colour of each status, the same in every output. */
export const STATUS_STYLES: Readonly<Record<Status, Style>> = {
  pending: "dim",
  in_progress: "cyan",
  completed: "green",
  blocked: "yellow",
  cancelled: "dim",
};

export const plainPaint: Paint = (_style, text) => text;

export const colourPaint: Paint = coloured;
