export { changedLines, changedRegions } from "./changed-lines.ts";
export { decodeText, type MediaType, mediaTypeOf } from "./decode.ts";
export { mergeText } from "./merge-text.ts";
export { nearPaths, nearWords } from "./near.ts";
export { cutLine, numberedLines, numberLines, type ShownLines, splitLines } from "./number-lines.ts";
export { headAndTail, preview } from "./offload.ts";
export { replaceText } from "./replace-text.ts";
