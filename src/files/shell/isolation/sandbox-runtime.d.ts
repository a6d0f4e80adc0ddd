/** As much of an optional peer as is used, which need not be there to build. */
declare module "@anthropic-ai/sandbox-runtime" {
  export const SandboxManager: {
    initialize(rules: object): Promise<void>;
    wrapWithSandbox(command: string, shell: string, rules: object): Promise<string>;
  };
}
