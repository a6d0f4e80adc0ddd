#!/usr/bin/env node
// CommonJS, which Node starts faster than an ES module: scripts ask for the version often.
const [option, ...others] = process.argv.slice(2);
if (others.length === 0 && (option === "--version" || option === "-v")) {
  console.log(require("../package.json").version);
} else void import("../dist/surfaces/cli/main.js");
