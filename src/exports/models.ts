export {
  chooseModel,
  type ChooseModelOptions,
  type ChosenModel,
  explainModelError,
  type FailedModel,
  knownModel,
  type KnownModel,
  OfflineModel,
  type OfflineModelOptions,
  type Environment,
  type ModelOptions,
} from "../models/index.ts";
