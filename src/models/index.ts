export { chooseModel, type ChooseModelOptions, type ChosenModel } from "./choose.ts";
export { explainModelError, type FailedModel } from "./failure/explain.ts";
export { knownModel, type KnownModel } from "./known-models.ts";
export { OfflineModel, type OfflineModelOptions } from "./offline/model.ts";
export type { Environment } from "./secrets/redact.ts";
export type { ModelOptions } from "./settings.ts";
