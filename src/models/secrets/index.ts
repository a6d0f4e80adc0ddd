export { fieldsOf, settled, withoutKeysOf } from "./keys.ts";
export { type Environment, type Hide, read, redact, secretsIn, withoutSecrets } from "./redact.ts";
