import { memo } from "react";
import { prose } from "../../../../src/threads/story/html/prose.ts";
import { node } from "./diff.tsx";

/** A model's Markdown as elements. HTML in it is shown as text. */
export const Markdown = memo(({ text }: { text: string }) => prose(text, node));
