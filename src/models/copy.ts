import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { withPatches } from "./patched-model.ts";
import { fieldsOf } from "./secrets/client-fields.ts";

/** The name of a client's class, which is also that of its subclasses. */
export function clientName(model: BaseChatModel): string {
  return (model.constructor as typeof BaseChatModel).lc_name();
}

/**
 * A copy of a client with other constructor fields: the same instance may serve those who want it otherwise. Built
 * anew, as clients derive things from their fields, and OpenAI's and Google's read them from there alone.
 */
export function copyWith(model: BaseChatModel, fields: object): BaseChatModel {
  const Client = model.constructor as new (fields: object) => BaseChatModel;
  const copy = withPatches(model, new Client({ ...fieldsOf(model), ...fields }));
  // What `withConfig` has bound to OpenAI's client.
  const { defaultOptions } = model as { defaultOptions?: object };
  return defaultOptions ? Object.assign(copy, { defaultOptions }) : copy;
}
