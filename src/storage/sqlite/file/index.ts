export {
  firstPage,
  formatOf,
  hasContent,
  hasExtraPages,
  headerDamage,
  otherFormat,
  PAGE_BYTES,
  readStart,
} from "./header.ts";
export { openDatabase, openFile } from "./open.ts";
export { SCHEMA_VERSION } from "./schema.ts";
export { walDamage } from "./wal.ts";
