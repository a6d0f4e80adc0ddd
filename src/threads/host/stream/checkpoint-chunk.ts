interface StreamedConfig {
  callbacks?: unknown;
  configurable?: Record<string, unknown>;
}

/** The fields that are read here of LangGraph's stream mode `checkpoints`. */
export interface CheckpointChunk {
  config: StreamedConfig;
  parentConfig?: StreamedConfig;
}

/**
 * A whole checkpoint as clients may see it. LangGraph streams the config that it is run with: in it are the lease that
 * the run writes by, which is as good as the thread itself, and whoever listens to callbacks.
 */
export function publicCheckpoint(chunk: CheckpointChunk): CheckpointChunk {
  const { config, parentConfig } = chunk;
  return {
    ...chunk,
    config: publicConfig(config),
    ...(parentConfig && { parentConfig: publicConfig(parentConfig) }),
  };
}

function publicConfig({ callbacks: _callbacks, configurable = {}, ...rest }: StreamedConfig): StreamedConfig {
  const own = Object.entries(configurable).filter(([key]) => !key.startsWith("__"));
  return { ...rest, configurable: Object.fromEntries(own) };
}
