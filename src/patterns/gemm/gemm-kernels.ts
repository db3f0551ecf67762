import { ELEMENTS } from "../../ir/scalars.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { bool, fixed, i32, view } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";

/** Types of matrices. */
export type MatrixType = "f64" | "f32";

/** Rows of a CPU's tile that share what is read of b, and numbers k that share what is read and written of the sums. */
export const GROUP_ROWS = 4;
export const PRODUCTS = 4;

/** A matrix of a batch in rows of whole tiles, with zeros after its end. */
export const padRows = bothTypes((type) =>
  kernel(
    "gemmRows",
    { matrix: view(FLOAT_TOKENS[type], 3), padded: view(FLOAT_TOKENS[type], 3), m: i32, n: i32 },
    ({ matrix, padded, m, n }, batch, i, j) => {
      padded[batch][i][j] = i < m && j < n ? matrix[batch][i][j] : 0;
    },
  ),
);

/** A matrix of a batch in panels of `width` columns, with zeros after its end. */
export const packPanels = bothTypes((type) =>
  kernel(
    "gemmPanels",
    { matrix: view(FLOAT_TOKENS[type], 3), panels: view(FLOAT_TOKENS[type], 4), m: i32, n: i32, width: i32 },
    ({ matrix, panels, m, n, width }, batch, panel, i, j) => {
      panels[batch][panel][i][j] = i < m && panel * width + j < n ? matrix[batch][i][panel * width + j] : 0;
    },
  ),
);

const result = (type: MatrixType) => ({
  c: view(FLOAT_TOKENS[type], 3, { disjoint: true }),
  alpha: FLOAT_TOKENS[type],
  beta: FLOAT_TOKENS[type],
  /** Whether beta times the old value of c is added. */
  adds: fixed(bool),
});

/**
 * A team has a tile of `height` x `width` sums, and its members four rows each, whose columns are their lanes. Four products go into a sum each time
 * that it is in registers, in the order of k.
 */
export const multiplyPanels = bothTypes((type) =>
  teamKernel(
    "gemm",
    {
      a: view(FLOAT_TOKENS[type], 3),
      panels: view(FLOAT_TOKENS[type], 4),
      ...result(type),
      height: fixed(i32),
      width: fixed(i32),
      depth: fixed(i32),
      GROUP_ROWS: fixed(i32),
      PRODUCTS: fixed(i32),
      Real: ELEMENTS[type].array as unknown as Float64ArrayConstructor,
    },
    ({ a, panels, c, alpha, beta, adds, height, width, depth, GROUP_ROWS, PRODUCTS, Real }, team) => {
      const across = panels[0].length;
      const down = Math.floor(a[0].length / height);
      const panel = team.index % across;
      const row = (Math.floor(team.index / across) % down) * height;
      const batch = Math.floor(team.index / (across * down));
      const all = panels[0][0].length;
      const sums = team.scratch(Real, height * width);
      team.range(height, (i, lanes) => {
        lanes.range(width, (j) => {
          sums[i * width + j] = 0;
        });
      });
      for (let first = 0; first < all; first += depth)
        team.range(Math.floor(height / GROUP_ROWS), (group, lanes) => {
          for (let k = first; k < Math.min(first + depth, all); k += PRODUCTS) {
            const factors = new Real(GROUP_ROWS * PRODUCTS);
            for (let r = 0; r < GROUP_ROWS; r++)
              for (let t = 0; t < PRODUCTS; t++) factors[r * PRODUCTS + t] = a[batch][row + GROUP_ROWS * group + r][k + t];
            lanes.range(width, (j) => {
              const elements = new Real(PRODUCTS);
              for (let t = 0; t < PRODUCTS; t++) elements[t] = panels[batch][panel][k + t][j];
              for (let r = 0; r < GROUP_ROWS; r++) {
                let sum = sums[(GROUP_ROWS * group + r) * width + j];
                for (let t = 0; t < PRODUCTS; t++) sum += factors[r * PRODUCTS + t] * elements[t];
                sums[(GROUP_ROWS * group + r) * width + j] = sum;
              }
            });
          }
        });
      const columns = Math.min(width, c[0][0].length - panel * width);
      team.range(Math.min(height, c[0].length - row), (i, lanes) => {
        lanes.range(columns, (j) => {
          const product = alpha * sums[i * width + j];
          const at = panel * width + j;
          c[batch][row + i][at] = adds ? product + beta * c[batch][row + i][at] : product;
        });
      });
    },
  ),
);

/** Members of a GPU's team, 8 x 8 of them. */
export const TILE_MEMBERS = 64;

/** Place of a member's row or column u, in groups of four, or two: so that neighbours read neighbours. */
const placeInTile = (u: number, group: number): number => Math.floor(u / group) * 8 * group + (u % group);

/** A member has `each` x `each` sums, which stay in its registers, and pieces of both matrices of 8 rows or columns go through the team's memory. */
export const multiplySquares = bothTypes((type) =>
  teamKernel(
    "gemm",
    {
      a: view(FLOAT_TOKENS[type], 3),
      b: view(FLOAT_TOKENS[type], 3),
      ...result(type),
      each: fixed(i32),
      group: fixed(i32),
      TILE_MEMBERS: fixed(i32),
      Real: ELEMENTS[type].array as unknown as Float64ArrayConstructor,
      placeInTile,
    },
    ({ a, b, c, alpha, beta, adds, each, group, TILE_MEMBERS, Real, placeInTile }, team) => {
      const side = 8 * each;
      const [m, n, all] = [c[0].length, c[0][0].length, b[0].length];
      const [across, down] = [Math.floor((n + side - 1) / side), Math.floor((m + side - 1) / side)];
      const column = (team.index % across) * side;
      const row = (Math.floor(team.index / across) % down) * side;
      const batch = Math.floor(team.index / (across * down));
      const left = team.scratch(Real, 8 * side, { disjoint: true });
      const right = team.scratch(Real, 8 * side, { disjoint: true });
      const sums = team.scratch(Real, TILE_MEMBERS * each * each);
      team.range(TILE_MEMBERS, (member) => {
        for (let q = 0; q < each * each; q++) sums[each * each * member + q] = 0;
      });
      for (let first = 0; first < all; first += 8) {
        team.range(TILE_MEMBERS, (member) => {
          for (let q = 0; q < each; q++) {
            const [i, k] = [8 * q + (member >> 3), first + (member & 7)];
            left[(member & 7) * side + i] = row + i < m && k < all ? a[batch][row + i][k] : 0;
            const [at, j] = [Math.floor((q * TILE_MEMBERS + member) / side), (q * TILE_MEMBERS + member) % side];
            right[at * side + j] = first + at < all && column + j < n ? b[batch][first + at][column + j] : 0;
          }
        });
        team.range(TILE_MEMBERS, (member) => {
          const [y, x] = [(member >> 3) * group, (member & 7) * group];
          for (let k = 0; k < 8; k++)
            for (let u = 0; u < each; u++) {
              const factor = left[side * k + placeInTile(u, group) + y];
              for (let v = 0; v < each; v++)
                sums[each * each * member + each * u + v] += factor * right[side * k + placeInTile(v, group) + x];
            }
        });
      }
      team.range(TILE_MEMBERS, (member) => {
        const [y, x] = [row + (member >> 3) * group, column + (member & 7) * group];
        for (let u = 0; u < each; u++)
          for (let v = 0; v < each; v++) {
            const [i, j] = [placeInTile(u, group) + y, placeInTile(v, group) + x];
            if (i < m && j < n) {
              const product = alpha * sums[each * each * member + each * u + v];
              c[batch][i][j] = adds ? product + beta * c[batch][i][j] : product;
            }
          }
      });
    },
  ),
);
