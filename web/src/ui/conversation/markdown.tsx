import { memo } from "react";
import { prose } from "../../../../src/threads/story/html/prose.ts";
import { node } from "./diff.tsx";

/** A model's words as nodes. Nothing in them is ever read as HTML. */
export const Markdown = memo(({ text }: { text: string }) => prose(text, node));
