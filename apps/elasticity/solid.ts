import { LaunchError } from "isoform";
import type { Material } from "./hexahedron.js";

/** A problem of linear elasticity. Nodes are cells of a grid; an element exists where all its corners do. */
export interface Solid {
  /** Nodes along x, y and z. */
  readonly extents: readonly [number, number, number];
  /** Default: all nodes. */
  readonly active?: (x: number, y: number, z: number) => boolean;
  readonly material: Material;
  /** Length of an element's edge. */
  readonly edge: number;
  /** Bit k is set where component k of the node's displacement is given. */
  readonly fixed: (x: number, y: number, z: number) => number;
  /** The value of fixed components, and asked for these only. Default: 0. */
  readonly displacement?: (x: number, y: number, z: number, axis: number) => number;
  /** The force on an active node; on fixed components, what the reaction takes up besides. Default: none. */
  readonly load?: (x: number, y: number, z: number, axis: number) => number;
  /** The exact displacement of nodes that belong to an element, if it is known: `Elasticity.deviation` compares with it. */
  readonly exact?: (x: number, y: number, z: number, axis: number) => number;
}

/** Options of the cases. */
export interface CubeOptions {
  /** Nodes along each axis of the grid. */
  readonly size: number;
  /** Share of the grid's nodes that a solid cube in its middle takes, above 0, up to 1. Default: 1. */
  readonly fill?: number;
  readonly material: Material;
  /** Outward pressure on the top, in the unit of Young's modulus. */
  readonly pressure: number;
}

const ALL = 7;

/** A cube of side 1 that stands on the plane z = 0 and is drawn upwards: the benchmark of Neon (Meneghin et al. 2022, section VI.C). */
export function cube(options: CubeOptions): Solid {
  const { first, top, ...solid } = sides(options);
  return { ...solid, fixed: (_x, _y, z) => (z === first ? ALL : 0), load: topLoad(options.pressure, solid.edge, first, top) };
}

/**
 * A cube of side 1, drawn upwards, that may shrink freely: the planes x = 0, y = 0 and z = 0 only slide in themselves. Each displacement is
 * linear in its coordinate: pressure / E along z, and -nu times that across.
 */
export function tension(options: CubeOptions): Solid {
  const { first, top, ...solid } = sides(options);
  const { edge, material } = solid;
  const strain = options.pressure / material.young;
  const strains = [-material.poisson * strain, -material.poisson * strain, strain];
  return {
    ...solid,
    fixed: (x, y, z) => [x, y, z].reduce((bits, n, axis) => bits | (n === first ? 1 << axis : 0), 0),
    load: topLoad(options.pressure, edge, first, top),
    exact: (x, y, z, axis) => strains[axis] * edge * ([x, y, z][axis] - first),
  };
}

/** Rows: what a coordinate adds to each displacement. Neither symmetric nor of equal parts, so that every strain and a rotation occur. */
const LINEAR = [
  [0.7, -0.2, 0.4],
  [0.3, -0.5, 0.1],
  [-0.6, 0.8, 0.2],
];

/** The patch test: a cube whose surface is displaced linearly; all of it must be (Irons and Razzaque 1972). */
export function patch(options: Omit<CubeOptions, "pressure">): Solid {
  const { first, top, ...solid } = sides(options);
  const exact = (x: number, y: number, z: number, axis: number): number =>
    solid.edge * LINEAR[axis].reduce((sum, part, along) => sum + part * ([x, y, z][along] - first), 0);
  return { ...solid, fixed: (x, y, z) => ([x, y, z].some((n) => n === first || n === top) ? ALL : 0), displacement: exact, exact };
}

/** The cases by name. */
export const CASES = { cube, tension, patch };
/** The name of a case in `CASES`. */
export type CaseName = keyof typeof CASES;

/** The solid cube in the middle of its grid, and its first and last nodes along each axis. */
function sides({ size, fill = 1, material }: Omit<CubeOptions, "pressure">) {
  if (!(fill > 0 && fill <= 1)) throw new LaunchError(`a solid cannot fill ${fill} of its grid: give a share above 0, up to 1`);
  const nodes = Math.round(size * Math.cbrt(fill));
  if (nodes < 2) throw new LaunchError(`a cube of ${nodes} nodes along each side is too small: an element needs 2`);
  const first = Math.floor((size - nodes) / 2);
  const top = first + nodes - 1;
  const inside = (n: number): boolean => n >= first && n <= top;
  return {
    first,
    top,
    extents: [size, size, size] as const,
    active: nodes === size ? undefined : (x: number, y: number, z: number) => inside(x) && inside(y) && inside(z),
    material,
    edge: 1 / (nodes - 1),
  };
}

/** The pressure on the top, each element's share in equal parts in its corners. */
const topLoad =
  (pressure: number, edge: number, first: number, top: number) =>
  (x: number, y: number, z: number, axis: number): number => {
    if (axis !== 2 || z !== top) return 0;
    const along = (n: number) => (n === first || n === top ? edge / 2 : edge);
    return pressure * along(x) * along(y);
  };
