import type { HostedGraph, RunRequest } from "../host/index.ts";

/** The keys of the limits for a run: its graph, its owner, and its model if that is known. */
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
