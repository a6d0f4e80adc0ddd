export { consentRules, type LiveRules, ruledCall } from "./consent-rules.ts";
export { denied, type Denied } from "./denied-paths.ts";
export { type Offer, offersFor } from "./offers.ts";
