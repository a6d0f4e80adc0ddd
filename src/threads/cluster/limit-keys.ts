import type { HostedGraph } from "../host/graphs.ts";
import type { RunRequest } from "../host/request/request.ts";

/** The keys by which workers limit a run: its graph, its owner, and its model if that is known. */
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
