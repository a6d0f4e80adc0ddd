import { createMiddleware } from "langchain";
import { withoutKeysOf } from "../../models/secrets/index.ts";

/**
 * Takes a model's key out of the errors of its calls: servers repeat what they were sent, and an error is saved, shown
 * and told to other models. Stands innermost, so that nobody makes an answer of an error before. For agents of ours,
 * also with a model that we did not choose; a plan alone does the same.
 */
export function secretsMiddleware() {
  return createMiddleware({
    name: "SecretsMiddleware",
    wrapModelCall: async (request, handler) => {
      try {
        return await handler(request);
      } catch (error) {
        throw await withoutKeysOf(request.model as object, error);
      }
    },
  });
}
