export { markLiterals, unmarked } from "./literal.ts";
export { offersAfter, readCommand } from "./parser.ts";
export { unknownWord } from "./unknown-words.ts";
