import { describe, expect, it } from "vitest";
import { stopTeams } from "../../attack/teams.ts";
import { STORES_BELOW } from "../../test/helpers/postgres/stores.ts";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { seed } from "../../test/helpers/runner/seed.ts";

describe.each(STORES_BELOW)(
  "teams of sub-agents, stopped anywhere and taken up by others, on $name",
  ({ create, cost }) => {
    it("keep all completions, complete nothing unfinished, and cost what the models used", async () => {
      const places = new Map<number, ReturnType<typeof create>>();
      const placeOf = (at: number) => {
        const place = places.get(at) ?? create();
        places.set(at, place);
        return place;
      };
      try {
        const open = async (at: number) => (await placeOf(at)).open();
        const { failures, notes } = await stopTeams(open, { tries: rounds(40 / cost), seed });
        expect([failures, notes]).toEqual([0, notes]);
      } finally {
        for (const place of places.values()) (await place).remove();
      }
    });
  },
);
