import type { Rounds } from "../../../src/domain/grid/parts.js";

/** Rounds, messages and bytes of rounds. */
export function counted({ rounds }: Rounds) {
  const copies = rounds.flatMap((round) => round.copies);
  return {
    rounds: rounds.filter((round) => round.copies.length > 0).length,
    messages: copies.length,
    bytes: copies.reduce((bytes, { source }) => bytes + source!.size * (source!.type === "f64" ? 8 : 4), 0),
  };
}
