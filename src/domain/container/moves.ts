import type { NumberElement } from "../../ir/types.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { elementToken, i32, view } from "../../kernel/declare/params.js";

/* Kernels that copy values between views of one type. */

/** Copies a box: `from` to `to`, both of four axes. */
export const moveKernel = (type: NumberElement): Kernel => kernelsOf(type).move;

/** Copies some components, which a table names, into a box: `from` has all of them along its first axis, `to` the named ones. */
export const packKernel = (type: NumberElement): Kernel => kernelsOf(type).pack;

/** The reverse. */
export const unpackKernel = (type: NumberElement): Kernel => kernelsOf(type).unpack;

/** Copies the values at the places of a table: `to[i] = from[places[i]]`. */
export const pickKernel = (type: NumberElement): Kernel => kernelsOf(type).pick;

interface Moves {
  readonly move: Kernel;
  readonly pack: Kernel;
  readonly unpack: Kernel;
  readonly pick: Kernel;
}

const made = new Map<NumberElement, Moves>();

function kernelsOf(type: NumberElement): Moves {
  const known = made.get(type);
  if (known) return known;
  const token = elementToken(type);
  const cells = view(token, 4);
  const table = view(i32);
  const moves = {
    move: kernel("move cells", { from: cells, to: cells }, ({ from, to }, k, z, y, x) => {
      to[k][z][y][x] = from[k][z][y][x];
    }),
    pack: kernel("pack halo", { from: cells, to: cells, table }, ({ from, to, table }, k, z, y, x) => {
      to[k][z][y][x] = from[table[k]][z][y][x];
    }),
    // A table names each component once.
    unpack: kernel("unpack halo", { from: cells, to: view(token, 4, { disjoint: true }), table }, ({ from, to, table }, k, z, y, x) => {
      to[table[k]][z][y][x] = from[k][z][y][x];
    }),
    pick: kernel("pick values", { from: view(token), to: view(token), places: table }, ({ from, to, places }, i) => {
      to[i] = from[places[i]];
    }),
  } as unknown as Moves;
  made.set(type, moves);
  return moves;
}
