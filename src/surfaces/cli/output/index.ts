export { clock, duration } from "./amounts.ts";
export { frame } from "./frame.ts";
export {
  exact,
  fit,
  harmless,
  type Harmless,
  harmlessLines,
  joined,
  oneLine,
  padded,
  part,
  shown,
  shownJson,
  type Sink,
  type Style,
  wrapped,
} from "./harmless.ts";
export { LiveRegion, type CursorPlace } from "./live-region.ts";
export { colourPaint, type Paint, plainPaint, STATUS_STYLES } from "./paint.ts";
