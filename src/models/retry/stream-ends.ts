/**
 * Checks that the streams of one server are complete. A proxy that gives up closes the connection like a server that
 * has finished, and clients would accept half an answer.
 */
export class StreamEnds {
  /** Whether this server marks the end of an answer; undefined while unknown. */
  #areMarked: boolean | undefined;

  /**
   * The same response with a body that fails if it ends without a mark. Some servers never send a mark: if there are no
   * retries left (`isLast`) and this server has never sent one, unmarked ends are accepted from then on.
   */
  watched(url: string, response: Response, isLast: () => boolean): Response {
    const mark = MARKS.find(([path]) => path.test(url))?.[1];
    const { ok, body, status, statusText, headers } = response;
    if (!mark || !ok || !body || !headers.get("content-type")?.includes("event-stream")) return response;
    const text = new TextDecoder("latin1");
    let tail = "";
    let isMarked = false;
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        tail += text.decode(piece);
        isMarked ||= mark.test(tail);
        tail = tail.slice(-LONGEST_MARK);
        controller.enqueue(piece);
      },
      flush: () => {
        if (isMarked) this.#areMarked = true;
        else if (this.#areMarked === undefined && isLast()) this.#areMarked = false;
        if (!isMarked && this.#areMarked !== false) throw brokenOff();
      },
    });
    return new Response(body.pipeThrough(watch), { status, statusText, headers });
  }
}

/**
 * Marks of the last events in OpenAI's and Anthropic's protocols. An error is also an end, which the client handles.
 * Quotes inside an answer's text are escaped, so marks do not match there. Ollama's client checks the end itself.
 */
const MARKS: readonly (readonly [RegExp, RegExp])[] = [
  [/\/chat\/completions(\?|$)/, /^data: ?\[DONE\]|"finish_reason"\s*:\s*"[^"]|"error"\s*:\s*["{]/m],
  [/\/responses(\?|$)/, /"response\.(completed|incomplete|failed)"|"type"\s*:\s*"error"/],
  [/\/messages(\?|$)/, /"message_stop"|"stop_reason"\s*:\s*"|"type"\s*:\s*"error"/],
];
const LONGEST_MARK = 64;

/** An error that looks like a cut connection to all callers. */
export function brokenOff(): Error {
  return Object.assign(new Error("The stream ended before the answer did."), { code: "ECONNRESET" });
}
