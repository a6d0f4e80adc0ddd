import { createMiddleware } from "langchain";
import { withoutKeysOf } from "../../models/secrets/index.ts";

/**
 * Removes a model's API key from the errors of its calls: servers may repeat it, and errors are saved, shown and sent to
 * other models. Belongs innermost, before other middleware uses an error. Works with any model; `planMiddleware` alone
 * does the same.
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
