import type { InteropZodObject, InteropZodType } from "@langchain/core/utils/types";
import type { StateDefinitionInit } from "@langchain/langgraph";
import type {
  AgentTypeConfig,
  AnyAgentMiddleware,
  AnyAnnotationRoot,
  CombineTools,
  ProviderStrategy,
  ReactAgent,
  ResponseFormatUndefined,
  ToolStrategy,
  TypedToolStrategy,
} from "langchain";
import type { filesMiddleware } from "../middleware/files/index.ts";
import type { planMiddleware } from "../middleware/plan/index.ts";
import type { PlanOptions } from "../middleware/plan/options.ts";
import type { AnyTool, DeepAgentOptions } from "./options.ts";

/** The shape of `structuredResponse` for a response format. */
type ResponseOf<Format> = [Format] extends [undefined]
  ? ResponseFormatUndefined
  : Format extends
        | InteropZodType<infer Value>
        | TypedToolStrategy<infer Value>
        | ToolStrategy<infer Value>
        | ProviderStrategy<infer Value>
    ? Value extends Record<string, unknown>
      ? Value
      : Record<string, unknown>
    : Record<string, unknown>;

/** The middleware that give a deep agent its state. */
type StateMiddleware<Plan> = Plan extends false
  ? readonly [ReturnType<typeof filesMiddleware>]
  : readonly [
      ReturnType<typeof planMiddleware<Plan extends PlanOptions ? Plan : PlanOptions>>,
      ReturnType<typeof filesMiddleware>,
    ];

/** `createDeepAgent` with everything that can be told from its options in the type of its result. */
export type CreateDeepAgent = <
  const Tools extends readonly AnyTool[] = readonly [],
  const Middleware extends readonly AnyAgentMiddleware[] = readonly [],
  State extends StateDefinitionInit | undefined = undefined,
  Context extends AnyAnnotationRoot | InteropZodObject = AnyAnnotationRoot,
  Format = undefined,
  const Plan extends DeepAgentOptions["plan"] = undefined,
>(
  options?: Omit<
    DeepAgentOptions,
    "tools" | "middleware" | "stateSchema" | "contextSchema" | "responseFormat" | "plan"
  > & {
    tools?: Tools;
    middleware?: Middleware;
    stateSchema?: State;
    contextSchema?: Context;
    responseFormat?: Format;
    plan?: Plan;
  },
) => ReactAgent<
  AgentTypeConfig<
    ResponseOf<Format>,
    State,
    Context,
    readonly [...StateMiddleware<Plan>, ...Middleware],
    CombineTools<Tools, Middleware>
  >
>;
