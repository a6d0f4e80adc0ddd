import { createMiddleware } from "langchain";

/** Adds settings to every model call, such as `temperature`. */
export function modelSettingsMiddleware(settings: Record<string, unknown>) {
  return createMiddleware({
    name: "ModelSettingsMiddleware",
    wrapModelCall: (request, handler) =>
      handler({ ...request, modelSettings: { ...request.modelSettings, ...settings } }),
  });
}
