import { extremes, type Case } from "../cli/extremes/cases.js";
import { run } from "../cli/extremes/run.js";
import { oneOf, picks } from "./mutate.js";
import type { Subject } from "./subject.js";

const COMMANDS = 12;

/** Command lines with options that nobody should type: exit 0 or 2, one message, no stack, an end within seconds. */
export const options: Subject = {
  name: "options",
  weight: 4,
  async open() {
    const all = await extremes();
    return {
      async trial(seed) {
        const pick = picks(seed);
        // Two options of one command come together as often as one alone.
        const draw = (): Case => {
          const first = oneOf(pick, all);
          const second = oneOf(pick, all);
          const added = first.words[0] === second.words[0] && !first.last && !second.last ? second.words.slice(-1) : [];
          return { ...first, words: [...first.words, ...added.filter((word) => word.startsWith("--"))] };
        };
        const { count, failures } = await run(Array.from({ length: COMMANDS }, draw));
        if (failures.length > 0) throw new Error(failures.join("\n"));
        return { options: count };
      },
      close: () => Promise.resolve(),
    };
  },
};
