import { laneLoops } from "../ir/analysis/teams.js";
import { BYTES } from "../ir/scalars.js";
import type { Stmt as KernelStmt } from "../ir/types.js";
import { blocksOf } from "../ir/walk.js";
import type { Program } from "./kernel-program.js";
import type { StmtOf } from "./frame.js";

/** The largest team, and the default. */
export const MEMBER_LIMIT = 1024;
export const MEMBERS = 256;
/** Lanes of a member where their loops have no length that is known. */
export const DEFAULT_LANES = 8;
/** Static shared memory of a block; scratch beyond it is dynamic. */
const STATIC_SHARED = 40 << 10;

/** Units of 8 bytes that an array fills. */
export const unitsOf = ({ length, type }: StmtOf<"array">): number => Math.ceil((length * BYTES[type]) / 8);

/** Bytes of the kernel's scratch arrays, each on a multiple of 8. */
function scratchBytes(body: readonly KernelStmt[]): number {
  return body.reduce((sum, stmt) => {
    const own = stmt.kind === "array" && stmt.space === "scratch" ? 8 * unitsOf(stmt) : 0;
    return sum + own + blocksOf(stmt).reduce((inner, list) => inner + scratchBytes(list), 0);
  }, 0);
}

/** Scratch bytes that do not fit the static limit, which a launch must ask for. */
export function dynamicScratchBytes(body: readonly KernelStmt[]): number {
  const bytes = scratchBytes(body);
  return bytes > STATIC_SHARED ? bytes : 0;
}

/** Lanes of a member of the kernel's teams; 1 where it does not share work out among them. */
export const lanesOf = ({ assumptions, features, ir }: Program): number =>
  features.warp > 0 && laneLoops(ir.body).length > 0 ? assumptions.lanes : 1;
