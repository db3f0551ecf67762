import { startTogether } from "../../device/cpu/compile-aside.js";
import type { Precision } from "../../device/device.js";
import type { Container } from "../grid/grid.js";

/** Backends whose compilers take long, and run in other processes. */
const SLOW = ["native"];

/** Starts to compile what the containers launch, side by side. What cannot be prepared is told when it runs. */
export function compileAhead(containers: readonly Container[], precision: Precision): void {
  for (const container of containers) {
    const { grid, uses, inRounds } = container;
    const member = grid.set.locals.find(({ device }) => SLOW.includes(device.backend));
    if (!member || inRounds) continue;
    for (const { field } of uses) field.grid.layOut();
    for (const launch of startTogether(() => grid.prepare(container, member.index, "standard", { precision }))) launch.free();
  }
}
