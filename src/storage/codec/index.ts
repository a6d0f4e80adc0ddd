export {
  BlobCache,
  type Blob,
  type BlobKind,
  type BlobSink,
  type BlobSource,
  type ChunkContents,
} from "./blob-cache.ts";
export { type DecodeOptions, Decoder, type PartialList } from "./decode.ts";
export { blobReferences, Encoder } from "./encode.ts";
export { frozenCopy } from "./frozen-copy.ts";
export { Memo } from "./memo.ts";
export { MessageLists } from "./message-lists.ts";
export { NEEDS_LOAD, reviver } from "./revive.ts";
