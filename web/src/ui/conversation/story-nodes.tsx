import { createElement, Fragment, memo, type ReactElement } from "react";
import { argumentParts, diffParts } from "../../../../src/threads/log/html/call-parts.ts";
import { prose, type MakeElement } from "../../../../src/threads/log/html/prose.ts";

const node: MakeElement<ReactElement> = (tag, attributes, ...content) =>
  createElement(tag, attributes, ...content);

/** A line-by-line diff of two texts. */
export function Diff({ label, ...texts }: { before: string; after: string; label: string }) {
  return createElement(Fragment, null, ...diffParts(texts, label, node));
}

/** The arguments of a call in a readable form. */
export function Arguments({ name, args }: { name: string; args: unknown }) {
  return createElement(Fragment, null, ...argumentParts(name, args, node));
}

/** A model's Markdown as elements. HTML in it is shown as text. */
export const Markdown = memo(({ text }: { text: string }) => prose(text, node));
