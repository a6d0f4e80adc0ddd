import { expect, it } from "vitest";
import { MANIFEST_KINDS, type Manifest } from "./manifest-kinds.ts";

function read(name: string, text: string): Manifest {
  return MANIFEST_KINDS.find(({ matches }) => matches.test(name))!.read(text);
}

it("package.json has four kinds of dependencies", () => {
  const text = JSON.stringify({
    name: "@a/b",
    dependencies: { a: "1" },
    peerDependencies: { b: "1", c: "1" },
    optionalDependencies: { d: "1" },
  });
  expect(read("package.json", text)).toEqual({
    name: "@a/b",
    counts: { dependencies: 1, peer: 2, optional: 1 },
  });
  expect(() => read("package.json", "[]")).toThrow("not an object");
});

it("pyproject.toml lists requirements with brackets and comments in them", () => {
  const text = `[project]
name = "tool"
dependencies = [
  "requests[socks]>=2", # "not this"
  'rich',
]
[project.optional-dependencies]
test = ["pytest"]
docs = ["mkdocs", "mkdocs-material"]
[dependency-groups]
dev = ["ruff"]
[tool.ruff]
select = ["E"]
`;
  expect(read("pyproject.toml", text)).toEqual({
    name: "tool",
    counts: { dependencies: 2, development: 1, optional: 3 },
  });
});

it("pyproject.toml of Poetry has tables, and Python is no dependency", () => {
  const text = `[tool.poetry]
name = "poem"
[tool.poetry.dependencies]
python = "^3.11"
httpx = { version = "^0.27", extras = ["http2"] }
[tool.poetry.group.dev.dependencies]
pytest = "^8"
`;
  expect(read("pyproject.toml", text)).toEqual({
    name: "poem",
    counts: { dependencies: 1, development: 1 },
  });
});

it("Cargo.toml counts keys, tables, targets and the workspace", () => {
  const text = `[package]
name = "crate"
[dependencies]
serde = { version = "1", features = ["derive"] }
anyhow.workspace = true
[dependencies.tokio]
version = "1"
features = [
  "full",
]
[target.'cfg(unix)'.dependencies]
nix = "0.29"
[dev-dependencies]
insta = "1"
`;
  expect(read("Cargo.toml", text)).toEqual({
    name: "crate",
    counts: { dependencies: 4, development: 1 },
  });
});

it("go.mod tells indirect dependencies apart", () => {
  const text = `module example.com/app

go 1.23

require example.com/one v1.0.0

require (
	example.com/two v1.0.0
	example.com/three v1.0.0 // indirect
	// a comment
)
`;
  expect(read("go.mod", text)).toEqual({
    name: "example.com/app",
    counts: { dependencies: 2, indirect: 1 },
  });
});

it("requirements.txt, Gemfile and pom.xml are counted by their own rules", () => {
  const requirements = "# pinned\n-r base.txt\nrequests==2 \\\n    --hash=sha256:abc\n\nrich>=13  # nice\n";
  expect(read("requirements-dev.txt", requirements)).toEqual({ counts: { dependencies: 2 } });
  const gemfile = "source 'https://rubygems.org'\ngem 'rails'\n  gem \"puma\", '>= 6'\n# gem 'no'\n";
  expect(read("Gemfile", gemfile)).toEqual({ counts: { dependencies: 2 } });
  const pom = `<project><parent><artifactId>up</artifactId></parent><artifactId>app</artifactId>
<dependencyManagement><dependencies><dependency/><dependency><artifactId>m</artifactId></dependency></dependencies></dependencyManagement>
<dependencies><dependency><artifactId>one</artifactId></dependency><!-- <dependency> --></dependencies>
<build><plugins><plugin><dependencies><dependency></dependency></dependencies></plugin></plugins></build></project>`;
  expect(read("pom.xml", pom)).toEqual({ name: "app", counts: { dependencies: 1 } });
});

it("composer.json has two kinds", () => {
  const text = '{"name":"a/b","require":{"php":">=8","x/y":"1"},"require-dev":{"p/u":"1"}}';
  expect(read("composer.json", text)).toEqual({
    name: "a/b",
    counts: { dependencies: 2, development: 1 },
  });
});
