export { Decoder, type DecodeContext } from "./decode.ts";
export { Encoder, targetsIn } from "./encode.ts";
export { asItIs } from "./frozen-copy.ts";
export { Memo } from "./memo.ts";
export { Lists } from "./message-lists.ts";
export {
  Recent,
  type Blob,
  type BlobKind,
  type BlobSink,
  type BlobSource,
  type Gathered,
} from "./recent-blobs.ts";
export { LATE, reviving } from "./revive.ts";
