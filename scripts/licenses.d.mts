import type { Plugin } from "vite";

export function licenses(fileName: string): Plugin;
