import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const page = (text: string, link: string) => ({ text, link });
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

export default defineConfig({
  title: "Holdfast",
  description: "A planning layer and deep-agent harness for LangChain.js and LangGraph.js",
  lang: "en",
  srcDir: ".content",
  outDir: "dist",
  cleanUrls: true,
  // A link that leads nowhere fails the build.
  ignoreDeadLinks: false,
  // The search index is one file.
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Getting started", "/getting-started"),
      page("Playground", "/playground"),
      page("Reference", "/reference/"),
      page(version, "/changelog"),
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          page("Getting started", "/getting-started"),
          page("Why another todo list", "/why"),
          page("Coming from elsewhere", "/coming-from"),
          page("Playground", "/playground"),
          page("Examples", "/examples/"),
        ],
      },
      {
        text: "Tutorials",
        items: [
          page("Testing an agent", "/tutorials/testing"),
          page("A custom backend", "/tutorials/backend"),
          page("Approve from Slack", "/tutorials/slack"),
          page("A team server", "/tutorials/team-server"),
          page("From a laptop to a cluster", "/tutorials/cluster"),
        ],
      },
      {
        text: "Agents",
        items: [
          page("A whole turn", "/a-turn"),
          page("The plan", "/plan"),
          page("A deep agent", "/deep-agent"),
          page("Plan mode per request", "/lead-agent"),
          page("Sub-agents", "/sub-agents"),
          page("Models", "/models"),
          page("MCP servers", "/mcp"),
          page("The web", "/web"),
          page("Sandbox and files", "/sandbox"),
          page("Budgets", "/budgets"),
        ],
      },
      {
        text: "The command",
        items: [
          page("A session", "/session"),
          page("The command line", "/command-line"),
          page("Project files and trust", "/project-files"),
          page("Editors and other agents", "/editors"),
        ],
      },
      {
        text: "Servers",
        items: [
          page("The server and its page", "/server"),
          page("Many workers", "/scale"),
          page("Storage", "/storage"),
          page("Traces and metrics", "/traces"),
        ],
      },
      {
        text: "Reference",
        items: [
          page("API", "/reference/"),
          page("Errors", "/troubleshooting"),
          page("What is promised", "/promises"),
          page("Security", "/security"),
          page("Figures", "/figures"),
          page("Live benchmark", "/live-bench"),
          page("Architecture", "/architecture"),
          page("Decisions", "/decisions/"),
          page("Glossary", "/glossary"),
          page("Changes", "/changelog"),
        ],
      },
    ],
  },
});
