export { type SearchOptions, type WebOptions, webTools } from "../web/index.ts";
