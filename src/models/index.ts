export { chooseModel, type ChooseModelOptions, type ChosenModel } from "./choose.ts";
export { describeModels, type ModelReport } from "./describe.ts";
export { explainModelError, type FailedModel } from "./failure/explain.ts";
export { OfflineModel, type OfflineModelOptions } from "./offline/model.ts";
export type { Environment, ModelOptions } from "./settings.ts";
