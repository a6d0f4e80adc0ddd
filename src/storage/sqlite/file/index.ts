export {
  checkFormat,
  firstPage,
  hasContent,
  hasExtraPages,
  headerDamage,
  PAGE_BYTES,
  readStart,
} from "./header.ts";
export { openDatabase, openFile } from "./open.ts";
export { SCHEMA_VERSION } from "./schema.ts";
export { formatOf, recount, upgrade } from "./upgrade.ts";
