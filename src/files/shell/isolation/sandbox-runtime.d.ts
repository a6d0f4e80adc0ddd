/** The used part of an optional peer, so that the build does not need it. */
declare module "@anthropic-ai/sandbox-runtime" {
  export const SandboxManager: {
    initialize(rules: object): Promise<void>;
    wrapWithSandbox(command: string, shell: string, rules: object): Promise<string>;
  };
}
