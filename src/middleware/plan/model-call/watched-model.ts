import type { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { withoutKeysOf } from "../../../models/secrets/index.ts";
import { keepingFinishReasons } from "./finish-reasons.ts";

/** Hooks for a model's requests and answers. */
export interface Watch {
  /**
   * Gets the messages after every other middleware, and returns those to send. `send` makes another call of the same
   * model, with the same tools.
   */
  onRequest: (messages: BaseMessage[], send: Send) => BaseMessage[];
  /** Gets the answer before any other middleware. */
  onAnswer?: (answer: object) => void;
  /** Gets the bound tools, and returns those to show to the model. */
  onTools?: (tools: readonly unknown[]) => unknown[];
  /** Additional metadata for the callbacks of every call. */
  metadata?: Readonly<Record<string, string>>;
}

/** Calls a model with its tools and settings. */
export type Send = (messages: BaseMessage[], config?: RunnableConfig) => Promise<unknown>;

/** A proxy of a model that sees every request last and every answer first. Removes the API key from its errors. */
export function watchedModel<T extends object>(model: T, watch: Watch): T {
  return new Proxy(model, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property === "bound" && typeof value === "object" && value) return watchedModel(value, watch);
      if (typeof value !== "function" || property === "constructor") return value;
      // Bound to the model itself: a proxy cannot reach private fields.
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      switch (property) {
        case "invoke":
          return async (input: unknown, config?: RunnableConfig, ...rest: unknown[]) => {
            const sent = Array.isArray(input)
              ? watch.onRequest(input as BaseMessage[], method as Send)
              : input;
            try {
              const metadata = { ...config?.metadata, ...watch.metadata };
              const callbacks = keepingFinishReasons(config);
              const answer = await method(sent, { ...config, metadata, callbacks }, ...rest);
              if (typeof answer === "object" && answer) watch.onAnswer?.(answer);
              return answer;
            } catch (error) {
              throw await withoutKeysOf(target, error);
            }
          };
        case "bindTools":
          return (tools: readonly unknown[], ...rest: unknown[]) =>
            watchedModel(method(watch.onTools?.(tools) ?? tools, ...rest) as object, watch);
        case "withConfig":
          return (...args: unknown[]) => watchedModel(method(...args) as object, watch);
        case "_getModelInstance":
          return async (...args: unknown[]) => watchedModel((await method(...args)) as object, watch);
        default:
          return method;
      }
    },
  });
}
