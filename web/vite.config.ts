import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // The page also works where it is served below a path.
  base: "./",
  resolve: {
    alias: {
      react: "preact/compat",
      "react-dom/client": "preact/compat/client",
      "react-dom": "preact/compat",
    },
  },
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    target: ["chrome123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
    // The content security policy allows no inline styles and no data: fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
