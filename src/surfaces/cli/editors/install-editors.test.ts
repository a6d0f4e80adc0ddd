import { describe, expect, it } from "vitest";
import { withAgent } from "./install-editors.ts";

const AGENT = { type: "custom", command: "node", args: ["acp"] };
const ENTRY = '"Holdfast": {"type":"custom","command":"node","args":["acp"]}';

describe("the settings of Zed", () => {
  it("are made where there are none", () => {
    const made = withAgent("", AGENT)!;
    expect(JSON.parse(made)).toEqual({ agent_servers: { Holdfast: AGENT } });
  });

  it("keep all that stands in them, comments included", () => {
    const before = '// Mine\n{\n  "theme": "One", // dark\n}\n';
    expect(withAgent(before, AGENT)).toBe(
      `// Mine\n{\n  "agent_servers": {\n    ${ENTRY}\n  },\n  "theme": "One", // dark\n}\n`,
    );
    const others = '{ "agent_servers": { "Other": { "command": "x" } } }';
    expect(JSON.parse(withAgent(others, AGENT)!)).toEqual({
      agent_servers: { Holdfast: AGENT, Other: { command: "x" } },
    });
    expect(JSON.parse(withAgent("{}", AGENT)!)).toEqual({ agent_servers: { Holdfast: AGENT } });
    expect(JSON.parse(withAgent('{ "agent_servers": {} }', AGENT)!)).toEqual({
      agent_servers: { Holdfast: AGENT },
    });
  });

  it("are left alone where they name it already, or are no object", () => {
    expect(withAgent(withAgent("", AGENT)!, AGENT)).toBeUndefined();
    expect(() => withAgent("[]", AGENT)).toThrow("The settings of Zed are no JSON object");
  });
});
