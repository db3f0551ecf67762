/* Public codes in Fortran, which are fetched apart: ISOFORM_FORTRAN_CORPORA names a folder with checkouts of them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plausible } from "./loop-cases.js";

const folder = process.env["ISOFORM_FORTRAN_CORPORA"];

export interface Code {
  /** The folder of its checkout: https://github.com/REPOSITORY. */
  readonly name: string;
  readonly repository: string;
  readonly files: readonly string[];
  /** Files with the modules that these use. */
  readonly hosts: readonly string[];
  /** Ways to compile it, by names for the preprocessor. */
  readonly defines: readonly Readonly<Record<string, string>>[];
  readonly plausible: Plausible;
}

const weather = (spec: string): Record<string, string> => ({
  _NX: "10",
  _NZ: "7",
  _SIM_TIME: "10",
  _OUT_FREQ: "10",
  _DATA_SPEC: spec,
});
const streams = ["CUDAKernel", "CUDA", "DoConcurrent", "OpenACC", "OpenMP", "OpenMPTarget", "OpenMPTargetLoop"];

/** Bounds of a tile, and of its neighbours. */
const TILE = { x_min: 1, x_max: 8, y_min: 1, y_max: 7, xmin: 1, xmax: 8, ymin: 1, ymax: 7 };
const NEIGHBOURS = Object.fromEntries(
  ["left", "right", "top", "bottom"].flatMap((side) => Object.entries(TILE).map(([name, value]) => [`${name}_${side}`, value])),
);
const LEAF: Plausible = {
  integers: { ...TILE, ...NEIGHBOURS, x_inc: 0, y_inc: 0, depth: 2, halo_exchange_depth: 2, edge_minus: 0, edge_plus: 0, buffer_offset: 0 },
  reals: {},
  extent: 99,
};
const clover = (
  "PdV accelerate advec_cell advec_mom calc_dt field_summary flux_calc generate_chunk ideal_gas initialise_chunk pack reset_field revert " +
  "update_halo update_tile_halo viscosity"
).split(" ");
const tea = (
  "field_summary generate_chunk initialise_chunk pack set_field tea_leaf_cg tea_leaf_cheby tea_leaf_common tea_leaf_jacobi tea_leaf_ppcg " +
  "update_halo update_internal_halo"
).split(" ");

/** Sizes of POT3D's grid, by names such as nr, nrm, nrm1 and nrm2; rows of its matrix are apart. */
const POT_SIZES = Object.fromEntries(
  Object.entries({ r: 5, t: 6, p: 5 }).flatMap(([axis, size]) => [
    [`n${axis}`, size],
    [`n${axis}m`, size - 1],
    [`n${axis}m1`, size - 1],
    [`n${axis}m2`, size - 2],
  ]),
);
const POT_ROWS = { n: 36, m: 252, ia: Array.from({ length: 37 }, (_, row) => 7 * row + 1) };

export const CODES: readonly Code[] = [
  {
    name: "miniWeather",
    repository: "mrnorman/miniWeather",
    files: ["openacc", "do_concurrent", "openmp", "openmp45"].map((name) => `fortran/miniWeather_mpi_${name}.F90`),
    hosts: [],
    // A thermal, gravity waves, an injection: loops have branches for some.
    defines: ["2", "3", "6"].map(weather),
    plausible: {
      integers: { nx: 10, nz: 7, i_beg: 1, k_beg: 1 },
      reals: {
        state: [-0.1, 0.1],
        state_init: [-0.1, 0.1],
        state_forcing: [-0.1, 0.1],
        hy_dens_theta_cell: [290, 310],
        hy_dens_theta_int: [290, 310],
        hy_pressure_int: [9e4, 1e5],
        dx: [1900, 2100],
        dz: [1400, 1430],
      },
      extent: 14,
    },
  },
  {
    name: "BabelStream",
    repository: "UoB-HPC/BabelStream",
    files: streams.map((name) => `src/fortran/${name}Stream.F90`),
    hosts: ["src/fortran/BabelStreamTypes.F90"],
    defines: [{ USE_INT32: "1" }, {}],
    plausible: { integers: { n: 40 }, reals: {}, extent: 40 },
  },
  {
    name: "CaNS",
    repository: "CaNS-World/CaNS",
    files: ["mom", "rk", "chkdt", "bound"].map((name) => `src/${name}.f90`),
    hosts: ["types", "common_mpi", "param", "scal", "utils", "mom"].map((name) => `src/${name}.f90`),
    defines: [{}, { _SINGLE_PRECISION: "1", _LOOP_UNSWITCHING: "1" }],
    plausible: {
      integers: { nx: 6, ny: 5, nz: 7, n: [6, 5, 7], nh: 1, dh: 0, nn: 5 },
      reals: { u: [-1, 1], v: [-1, 1], w: [-1, 1] },
      extent: 10,
    },
  },
  {
    name: "SNaC",
    repository: "p-costa/SNaC",
    files: ["correc", "initflow", "mom", "chkdiv", "fillps", "chkdt", "scal", "rk", "post", "updt_pressure"].map(
      (name) => `src/${name}.f90`,
    ),
    hosts: ["types", "param", "common_mpi"].map((name) => `src/${name}.f90`),
    defines: [{}],
    plausible: { integers: { lo: [1, 1, 1], hi: [6, 5, 7], n: [6, 5, 7] }, reals: { u: [-1, 1], v: [-1, 1], w: [-1, 1] }, extent: 20 },
  },
  {
    name: "CloverLeaf_ref",
    repository: "UK-MAC/CloverLeaf_ref",
    files: clover.map((name) => `kernels/${name}_kernel.f90`),
    hosts: ["data.f90", "definitions.f90"],
    defines: [{}],
    plausible: LEAF,
  },
  {
    name: "CloverLeaf_OpenACC",
    repository: "UK-MAC/CloverLeaf_OpenACC",
    files: clover.map((name) => `${name}_kernel.f90`),
    hosts: ["data.f90", "definitions.f90"],
    defines: [{}],
    plausible: LEAF,
  },
  {
    name: "POT3D",
    repository: "predsci/POT3D",
    files: ["src/pot3d.F90"],
    hosts: [],
    defines: [{}],
    plausible: { integers: { ...POT_SIZES, ...POT_ROWS, n1: 5, n2: 6, n3: 5 }, reals: {}, extent: 36 },
  },
  {
    name: "TeaLeaf_ref",
    repository: "UK-MAC/TeaLeaf_ref",
    files: tea.map((name) => `kernels/${name}_kernel.f90`),
    hosts: ["data.f90", "definitions.f90", "kernels/tea_leaf_common_kernel.f90"],
    defines: [{}],
    plausible: LEAF,
  },
];

export const pathOf = ({ name }: Code, file: string): string => join(folder!, name, file);
export const read = (code: Code, file: string): string => readFileSync(pathOf(code, file), "utf8");

/** Options of a test that reads a code. */
export const needsCode = (code: Code) => ({
  skip:
    folder !== undefined && existsSync(pathOf(code, code.files[0]))
      ? false
      : `ISOFORM_FORTRAN_CORPORA names no folder with a checkout of ${code.repository} as ${code.name}`,
});
