import { expectTypeOf, it } from "vitest";
import type { choose } from "../prompts.ts";
import type { Terminal } from "../terminal.ts";
import type { Harmless, shown } from "./harmless.ts";
import type { Paint } from "./paint.ts";

it("only harmless text can be written, painted, put into a sentence or asked", () => {
  expectTypeOf<Terminal["stdout"]["write"]>().parameter(0).toEqualTypeOf<Harmless>();
  expectTypeOf<Terminal["stderr"]["write"]>().parameter(0).toEqualTypeOf<Harmless>();
  expectTypeOf<Terminal["stdout"]>().not.toHaveProperty("end");
  expectTypeOf<string>().not.toExtend<Harmless>();
  expectTypeOf<"words">().not.toExtend<Harmless>();
  expectTypeOf<Paint>().parameter(1).toEqualTypeOf<Harmless>();
  expectTypeOf<typeof shown>().parameter(1).toEqualTypeOf<Harmless | number>();
  expectTypeOf<typeof choose>().parameter(0).toEqualTypeOf<Harmless>();
});
