export { backendContract, type BackendContractOptions, type TestRunner } from "./backend-contract.ts";
export { ScriptedModel, callTool, type ModelRequestRecord, type Step } from "./scripted-model.ts";
export {
  startProvider,
  type ProviderName,
  type ProviderServer,
  type ProviderStep,
  type ProviderTurn,
} from "./providers/index.ts";
