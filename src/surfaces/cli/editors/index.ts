export { ownOutput } from "./protocol-output.ts";
