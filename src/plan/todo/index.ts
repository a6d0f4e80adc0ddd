export {
  FIELDS,
  type Figures,
  figuresBy,
  figuresSince,
  idsInProgress,
  laterActuals,
  type Mark,
  nextMarks,
  NO_FIGURES,
  sumFigures,
  type Tally,
  ZERO_TALLY,
} from "./actuals.ts";
export { contentKey } from "./content-key.ts";
export {
  actionable,
  byId,
  closingDependencies,
  findCycle,
  nextStartable,
  unmetDependencies,
} from "./dependencies.ts";
export { diffTodos, isSame, patchTodos } from "./diff.ts";
export { Items } from "./items.ts";
export {
  type Interval,
  isSameFigures,
  type Ledger,
  lengthOf,
  type Move,
  NO_ITEM,
  type Part,
  settle,
  withFigures,
  withHelper,
} from "./ledger.ts";
export { own } from "./own.ts";
export { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "./policy.ts";
export {
  type Actuals,
  type Change,
  type Counts,
  countTodos,
  EDITABLE_FIELDS,
  EMPTY_PLAN,
  isClosed,
  isFinished,
  isOpen,
  type Issue,
  LEFT_OPEN,
  nextNumber,
  numberOf,
  type OptionalField,
  type Plan,
  PRIORITIES,
  type Priority,
  type Result,
  type Rule,
  type Status,
  STATUSES,
  type Todo,
  withoutLeftOpen,
} from "./todo.ts";
