export type { SearchOptions, WebOptions } from "./options.ts";
export { webTools, WEB_TOOLS, webToolsOf } from "./tools.ts";
export { WEB } from "./check-options.ts";
