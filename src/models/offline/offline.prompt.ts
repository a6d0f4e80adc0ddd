/** The answer to a request that is not a survey. */
export const NOT_A_SURVEY = `I am \`offline\`, not a language model: all I can do is survey a directory, as in \`holdfast run "Survey this directory"\`.
For anything else set a real model with HOLDFAST_MODEL: \`openai:gpt-5.1\` with OPENAI_API_KEY, \`anthropic:claude-sonnet-5\` with ANTHROPIC_API_KEY, or \`ollama:qwen3\` for a local server.`;

/** The answer when a summary has replaced the calls of a survey. */
export const SUMMARIZED =
  "The conversation was summarized before the survey was finished, and what I had found is no longer before me. I am `offline`, not a language model, and cannot go on from a summary. Ask for a survey of a smaller folder.";

/** The first words of the demo, in its scratch project. */
export const DEMO_INTRODUCTION =
  "I am `demo`, a script that stands in for a language model. I always do the same task; files, commands, questions, and tests are real.";

/** The answer of the demo in any other folder. */
export const DEMO_ELSEWHERE =
  "I am `demo`, a program and not a language model, and know only the scratch project that `holdfast demo` makes: start me with `holdfast demo`.";

/** The answer of the demo once its task is done. */
export const DEMO_OVER =
  "My one task is done here, and I am a program that knows no other: `holdfast demo` makes a new scratch project, `holdfast login` sets up a real model.";
