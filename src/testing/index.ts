export { backendContract, type BackendContractOptions, type TestRunner } from "./backend-contract.ts";
export { ScriptedModel, callTool, type ModelRequestRecord, type Step } from "./scripted-model.ts";
