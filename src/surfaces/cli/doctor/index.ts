export type { Finding } from "./finding.ts";
export { machineFindings } from "./machine.ts";
export { modelFindings } from "./models.ts";
export { projectFindings } from "./project.ts";
export { storageFindings } from "./storage.ts";
