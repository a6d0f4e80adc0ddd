import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { nameOf } from "../../files/paths/index.ts";
import type { MediaType } from "../../files/text/index.ts";
import { settled } from "../../models/secrets/index.ts";

/** Media that a model may accept besides text. */
export const MEDIA = ["image", "pdf"] as const;
export type Media = (typeof MEDIA)[number];

/** A media file for the model, kept in the artifact of the result of the call that read it. */
export interface Shown {
  path: string;
  type: MediaType;
  /** In base64. */
  data: string;
}

/** The most bytes that providers accept. An image of this size has five megabytes in base64. */
const MOST: Readonly<Record<Media, number>> = { image: 3_750_000, pdf: 10_000_000 };

/** The media that an agent's model accepts: by option, else by its profile. */
export class Sight {
  readonly #option: readonly Media[] | undefined;
  #model: object | undefined;

  constructor({ media, model }: { media?: readonly Media[]; model?: object }) {
    this.#option = media;
    this.#model = model;
  }

  /** Adds to a request the media files that its results refer to, if the model accepts them. */
  async opened<Request extends { model: unknown; messages: BaseMessage[] }>(
    request: Request,
  ): Promise<Request> {
    this.#model = request.model as object;
    if (!request.messages.some(shownIn)) return request;
    const media = await this.media();
    return { ...request, messages: withFiles(request.messages, media) };
  }

  async media(): Promise<readonly Media[]> {
    if (this.#option) return this.#option;
    const { profile } = ((this.#model && (await settled(this.#model))) ?? {}) as {
      profile?: { imageInputs?: boolean; pdfInputs?: boolean };
    };
    return MEDIA.filter((kind) => (kind === "image" ? profile?.imageInputs : profile?.pdfInputs) === true);
  }
}

/** The answer to reading a media file: a description, and the file if the model accepts it. */
export function look(
  path: string,
  { type, bytes, media }: { type: MediaType; bytes: Uint8Array; media: readonly Media[] },
): { text: string; shown?: Shown } {
  const text = `${path}: ${type}, ${bytes.length} bytes.`;
  const kind = kindOf(type);
  if (!media.includes(kind)) return { text: `${text} You cannot look at it: only text can be read here.` };
  if (bytes.length > MOST[kind])
    return { text: `${text} You can look at files of up to ${MOST[kind]} bytes.` };
  return { text, shown: { path, type, data: Buffer.from(bytes).toString("base64") } };
}

function kindOf(type: MediaType): Media {
  return type === "application/pdf" ? "pdf" : "image";
}

/**
 * Adds files after the results that refer to them. They are user messages, as not every provider accepts media in a
 * result, and come after all results of a turn, which must not be separated.
 */
function withFiles(messages: readonly BaseMessage[], media: readonly Media[]): BaseMessage[] {
  let pending: Shown[] = [];
  return messages.flatMap((message, at) => {
    const file = shownIn(message);
    if (file && media.includes(kindOf(file.type))) pending.push(file);
    const next = messages[at + 1];
    if (pending.length === 0 || (next && ToolMessage.isInstance(next))) return message;
    const files = pending.map(fileMessage);
    pending = [];
    return [message, ...files];
  });
}

function shownIn(message: BaseMessage): Shown | undefined {
  if (!ToolMessage.isInstance(message)) return undefined;
  return ((message.artifact ?? {}) as { shown?: Shown }).shown;
}

/** An image block in the form that all model clients support. */
export function imageBlock({ type, data }: Pick<Shown, "type" | "data">) {
  return { type: "image_url" as const, image_url: { url: `data:${type};base64,${data}` } };
}

/** A user message with a file. A document is a standard block, which each client converts for its provider. */
function fileMessage({ path, type, data }: Shown): HumanMessage {
  const text = { type: "text" as const, text: `${path}:` };
  return kindOf(type) === "image"
    ? new HumanMessage({ content: [text, imageBlock({ type, data })] })
    : new HumanMessage({
        contentBlocks: [text, { type: "file", mimeType: type, data, metadata: { filename: nameOf(path) } }],
      });
}
