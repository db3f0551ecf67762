import type { ReduceParam } from "../../../ir/types.js";
import type { Shuffle } from "./dialect.js";
import type { EntryWriter } from "./writer.js";

/** The first thread of every 2 * `step` gets their fold. */
export function foldDown(entry: EntryWriter, param: ReduceParam, accumulator: string, step: number, shuffle: Shuffle): void {
  const name = entry.names.fresh("step");
  entry.code.block(`for (int ${name} = ${step}; ${name} > 0; ${name} /= 2)`, () =>
    entry.foldInto(entry.body, param, param.type, accumulator, shuffle.down(accumulator, name)),
  );
}
