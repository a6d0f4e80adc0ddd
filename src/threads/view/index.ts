export { costOf, type Prices, pricesOf, readPrices } from "./prices.ts";
export {
  type AgentView,
  EMPTY_VIEW,
  helpersOf,
  MAIN,
  ownerName,
  reduce,
  type RunView,
  tokensOf,
  workedMs,
} from "./view.ts";
