export type { SearchOptions, WebOptions } from "./options.ts";
export { webTools } from "./tools.ts";
