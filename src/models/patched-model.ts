import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { fieldsOf } from "./secrets/index.ts";

type Change = (model: BaseChatModel) => void;

/** Changes of a model after it was built. */
const changes = new WeakMap<BaseChatModel, readonly Change[]>();

/** Changes a model in place, and all later copies of it. */
export function patchModel<Model extends BaseChatModel>(model: Model, change: Change): Model {
  const earlier = changes.get(model);
  if (!earlier) patchCopies(model);
  change(model);
  changes.set(model, [...(earlier ?? []), change]);
  return model;
}

/** Applies the changes of a model to a copy. */
function withPatches<Copy extends BaseChatModel>(model: BaseChatModel, copy: Copy): Copy {
  return (changes.get(model) ?? []).reduce(patchModel, copy);
}

/** Applies the changes in `withConfig`, where OpenAI's client creates a copy (others are wrapped). */
function patchCopies(model: BaseChatModel): void {
  // oxlint-disable-next-line typescript/unbound-method -- called on `this`: the model may be copied, and the copy changed
  const { withConfig } = model;
  const own: Pick<BaseChatModel, "withConfig"> & ThisType<BaseChatModel> = {
    withConfig(config) {
      const configured = withConfig.call(this, config);
      if (configured.constructor !== this.constructor) return configured;
      return withPatches(model, configured as unknown as BaseChatModel);
    },
  };
  Object.assign(model, own);
}

/** The name of a client's class, which its subclasses share. */
export function clientName(model: BaseChatModel): string {
  return (model.constructor as typeof BaseChatModel).lc_name();
}

/**
 * A copy of a client with other constructor fields, as other users may share the instance. Calls the constructor,
 * because clients derive state from their fields.
 */
export function copyWith(model: BaseChatModel, fields: object): BaseChatModel {
  const Client = model.constructor as new (fields: object) => BaseChatModel;
  const copy = withPatches(model, new Client({ ...fieldsOf(model), ...fields }));
  // The options that `withConfig` has bound to OpenAI's client.
  const { defaultOptions } = model as { defaultOptions?: object };
  return defaultOptions ? Object.assign(copy, { defaultOptions }) : copy;
}
