export { perform } from "./perform.ts";
export { projectFor, projectIn } from "./project.ts";
export { isPiped, readStandardInput } from "./standard-input.ts";
export { withPipedText } from "./task.prompt.ts";
