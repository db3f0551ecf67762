import { agree } from "../skeleton/random-sequences.js";
import { jsSet } from "../domain/sets.js";
import type { Subject } from "./subject.js";

/** Random sequences of containers on 1 to 7 members, at every level of overlap, against their meaning. */
export const skeletons: Subject = {
  name: "skeletons",
  weight: 8,
  open: () =>
    Promise.resolve({
      async trial(seed) {
        await agree(jsSet(1), [1, 2, 3, 4, 7].map(jsSet), { numRuns: 1, ways: 3, seed });
        return { skeletons: 3 };
      },
      close: () => Promise.resolve(),
    }),
};
