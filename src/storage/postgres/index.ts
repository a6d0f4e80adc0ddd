export { ITEMS, PostgresItems } from "./items.ts";
export { HOSTED, RUNS, SCHEDULES } from "./ledger.ts";
export { EDITS } from "./mailbox.ts";
export { PostgresSaver } from "./saver.ts";
