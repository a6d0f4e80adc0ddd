/**
 * Watches the streams of one server for their ends. A proxy that gives up closes the connection as properly as a
 * server that is done, and clients take half an answer for a whole one.
 */
export class StreamEnds {
  /** Whether this server says when an answer is complete; undefined as long as nobody knows. */
  #areMarked: boolean | undefined;

  /**
   * The same response, whose body fails where it ends without a mark. Some servers never send one: when nobody would
   * ask again (`isLast`) such an end is accepted, and from then on, unless this server has been seen to mark others.
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
 * Marks of the last events in OpenAI's and Anthropic's protocols. An error is an end too, which the client reads.
 * Quotes inside an answer's text are escaped. Ollama's client finds the end by itself.
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
