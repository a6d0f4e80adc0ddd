export { PostgresItems } from "./items.ts";
export { PostgresSaver } from "./saver.ts";
