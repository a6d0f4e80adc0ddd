export { fieldsOf, settled } from "./client-fields.ts";
export { withoutKeysOf } from "./keys.ts";
export { type Environment, type Hide, read, redact, secretsIn, withoutSecrets } from "./redact.ts";
