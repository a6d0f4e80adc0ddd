import { HarnessError } from "../errors.ts";
import { withoutCredentials } from "./settings.ts";

type Input = Parameters<typeof fetch>[0];

/**
 * Sends one request. A stream is handed on as it comes; everything else is read whole, so that a cut connection
 * shows here. Throws `bad-response` for a success that no client can read.
 */
export async function exchange(
  input: Input,
  init: RequestInit | undefined,
  timeout: number | undefined,
): Promise<Response> {
  const silence = new Silence(timeout);
  const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
  const response = await silence.limit(fetch(input, { ...init, signal }));
  const { ok, body, status, statusText, headers } = response;
  const copy = { status, statusText, headers };
  const type = headers.get("content-type") ?? "";
  if (ok && body && !/application\/json|html/.test(type)) return new Response(limited(body, silence), copy);

  const bytes = await silence.limit(response.arrayBuffer());
  const url = input instanceof Request ? input.url : String(input);
  const problem = ok && CHAT.test(url) ? problemWith(new TextDecoder().decode(bytes)) : undefined;
  if (problem) throw new HarnessError("bad-response", `${withoutCredentials(url)} ${problem}.`);
  return new Response(bytes, copy);
}

/** Ends a request when the server is silent for too long. Time in which nobody reads does not count. */
class Silence {
  readonly #controller = new AbortController();
  readonly #limit: number | undefined;

  constructor(limit: number | undefined) {
    this.#limit = limit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async limit<T>(answer: Promise<T>): Promise<T> {
    if (this.#limit === undefined) return answer;
    const reason = new DOMException(`The server was silent for ${this.#limit} ms.`, "TimeoutError");
    const timer = setTimeout(() => this.#controller.abort(reason), this.#limit);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }
}

function limited(body: ReadableStream<Uint8Array>, silence: Silence): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await silence.limit(reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => reader.cancel(reason),
  });
}

const CHAT = /\/(chat\/completions|messages|responses|api\/chat)$/;
/** What the answers of OpenAI's two protocols, of Anthropic and of Ollama have at the top. */
const ANSWER_KEYS = ["choices", "output", "content", "message"];

/** Clients take what is not an answer for one, and fail with a `TypeError` or say nothing at all. */
function problemWith(text: string): string | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return "did not answer with JSON";
  }
  if (typeof answer !== "object" || answer === null) return "did not answer with an object";
  if (ANSWER_KEYS.some((key) => key in answer)) return undefined;
  // LM Studio says so with status 200 when the path is wrong.
  if (!("error" in answer)) return "answered with JSON that is not an answer of a model";
  const { error } = answer;
  return `answered with an error: ${typeof error === "string" ? error : JSON.stringify(error)}`;
}
