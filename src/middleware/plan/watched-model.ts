import type { BaseMessage } from "@langchain/core/messages";

/**
 * The same model, with a last look at every request: `onRequest` gets the messages as they go out, after every
 * other middleware had its turn, and returns what is sent.
 */
export function watchedModel<T extends object>(
  model: T,
  onRequest: (messages: BaseMessage[]) => BaseMessage[],
): T {
  return new Proxy(model, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property === "bound" && typeof value === "object" && value) return watchedModel(value, onRequest);
      if (typeof value !== "function" || property === "constructor") return value;
      // Bound to the model itself: private fields are not reachable through a proxy.
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      switch (property) {
        case "invoke":
          return (input: unknown, ...rest: unknown[]) =>
            method(Array.isArray(input) ? onRequest(input as BaseMessage[]) : input, ...rest);
        case "bindTools":
        case "withConfig":
          return (...args: unknown[]) => watchedModel(method(...args) as object, onRequest);
        case "_getModelInstance":
          return async (...args: unknown[]) => watchedModel((await method(...args)) as object, onRequest);
        default:
          return method;
      }
    },
  });
}
