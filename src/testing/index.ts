export { backendContract, type BackendContractOptions, type TestRunner } from "./backend-contract.ts";
export { OfflineModel, type OfflineModelOptions } from "./offline/model.ts";
export { ScriptedModel, callTool, type ModelRequestRecord, type Step } from "./scripted-model.ts";
