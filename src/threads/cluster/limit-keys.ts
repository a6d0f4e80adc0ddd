import type { HostedGraph } from "../host/graphs.ts";
import type { RunRequest } from "../host/request/request.ts";

/** What a run is counted by where workers have limits: its graph, who it is for, and the model, where that is known. */
export async function limitKeys(
  graph: HostedGraph | undefined,
  { thread, owner, request }: { thread: string; owner: string | undefined; request: RunRequest },
): Promise<string[]> {
  const model = await graph?.modelName?.(thread, request);
  return [
    `graph:${request.graph}`,
    ...(owner === undefined ? [] : [`tenant:${owner}`]),
    ...(model === undefined ? [] : [`model:${model}`]),
  ];
}
