export { ScriptedModel, callTool, type ModelRequestRecord, type Step } from "./scripted-model.ts";
