import { foldConstantsIn } from "../../ir/constant-folding.js";
import { literal } from "../../ir/simplify.js";
import { teamRows } from "../../ir/analysis/teams.js";
import type { Policy } from "../../ir/launch.js";
import { BYTES } from "../../ir/scalars.js";
import type { KernelIR } from "../../ir/types.js";
import { mapExpr } from "../../ir/walk.js";
import type { Device } from "../device.js";
import type { View } from "../memory/view.js";
import type { GivenArguments } from "./known-values.js";

interface Bound {
  readonly ir: KernelIR;
  readonly views: Readonly<Record<string, View>>;
}

/** Rows of different teams have no cache line in common. */
const LINE = 128;

/** Elements of each team's scratch of level 1, by its name in the kernel's code; of negative lengths none. */
export function teamLengths(ir: KernelIR, { scalars, views }: GivenArguments): ReadonlyMap<string, number> {
  return new Map(
    teamRows(ir).map(({ name, teamLength }) => {
      const known = mapExpr(teamLength, (node) => {
        if (node.op === "param") return literal(node.type, scalars[node.name]);
        return node.op === "extent" ? literal("i32", views[node.view].shape[node.axis]) : node;
      });
      const length = foldConstantsIn(known, ir.tables);
      if (length.op !== "const") throw new Error(`the length of "${name}" is not known`);
      return [name, Math.max(0, Number(length.value))];
    }),
  );
}

/** Memory for teams' scratch of level 1: a row for each team that runs at a time. Throws DeviceError if it does not fit. */
export function allocateTeamRows(device: Device, ir: KernelIR, policy: Policy, known: GivenArguments): Record<string, View> {
  const rows = teamRows(ir);
  if (rows.length === 0) return {};
  const lengths = teamLengths(ir, known);
  const resident = policy.kind === "team" ? (device.residentTeams?.(policy.league) ?? policy.league) : 0;
  return Object.fromEntries(
    rows.map(({ name, element }) => {
      const line = LINE / BYTES[element];
      const length = lengths.get(name)!;
      return [name, device.array({ type: element }, [resident, Math.ceil(length / line) * line]).slice(undefined, [0, length])];
    }),
  );
}

/** Teams for which there is such memory; any number where the kernel has none. */
export const residentTeams = ({ ir, views }: Bound): number => Math.min(...teamRows(ir).map(({ name }) => views[name].shape[0]));

/** Gives that memory back. */
export function freeTeamRows({ ir, views }: Bound): void {
  for (const { name } of teamRows(ir)) views[name].free();
}
