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
import type { PlanOptions, planMiddleware } from "../middleware/plan/index.ts";
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

/** The middleware that defines a deep agent's state. */
type StateMiddleware<Plan, Files extends AnyAgentMiddleware> = Plan extends false
  ? readonly [Files]
  : readonly [ReturnType<typeof planMiddleware<Plan extends PlanOptions ? Plan : PlanOptions>>, Files];

export type CreateDeepAgent = CreateAgent<DeepAgentOptions, ReturnType<typeof filesMiddleware>>;

/** The type of a function that creates deep agents, with a result type inferred from the options. */
export type CreateAgent<Options extends object, Files extends AnyAgentMiddleware> = <
  const Tools extends readonly AnyTool[] = readonly [],
  const Middleware extends readonly AnyAgentMiddleware[] = readonly [],
  State extends StateDefinitionInit | undefined = undefined,
  Context extends AnyAnnotationRoot | InteropZodObject = AnyAnnotationRoot,
  Format = undefined,
  const Plan extends DeepAgentOptions["plan"] = undefined,
>(
  options?: Omit<
    Options,
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
    readonly [...StateMiddleware<Plan, Files>, ...Middleware],
    CombineTools<Tools, Middleware>
  >
>;
