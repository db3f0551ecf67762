/*
 * Cases for STREAmS-2's kernels: random inputs that are physically plausible, sizes and switches by name, one switch varied at a time. Bounds
 * come from the declarations, those of assumed-shape arguments from the `allocate` statements of the host's files.
 */
import { readSymbols, type UnitScope, type Variable } from "../../src/fortran/analyse/symbols.js";
import { eachStatement } from "../../src/fortran/analyse/visit.js";
import { Problems } from "../../src/fortran/errors.js";
import { parse } from "../../src/fortran/parse/index.js";
import type { ActualArgument, Expr } from "../../src/fortran/tree/index.js";
import { streamsText } from "./streams.js";

export interface CaseArgument {
  readonly name: string;
  readonly bounds?: readonly (readonly [lower: number, upper: number])[];
  readonly data: Float64Array | Int32Array;
}
export interface Case {
  readonly id: string;
  readonly entry: string;
  readonly args: readonly CaseArgument[];
}

/** The first value is the default. */
const SCALARS: Readonly<Record<string, readonly (number | string)[]>> = {
  nx: [12],
  ny: [14],
  nz: [11],
  ng: [4],
  nv: [5],
  nv_aux: [10],
  npsi: [3],
  mpsi: [1, 2, 3],
  num_probe: [3],
  ndft: [8],
  nvar: [5],
  eul_imin: [1],
  eul_imax: ["nx"],
  eul_jmin: [1],
  eul_jmax: ["ny"],
  eul_kmin: [1],
  eul_kmax: ["nz"],
  istart_face: [0],
  iend_face: ["nx"],
  istart: [1],
  iend: ["nx"],
  jstart: [1],
  jend: ["ny"],
  kstart: [1],
  kend: ["nz"],
  weno_scheme: [3, 1, 2, 4],
  weno_size: ["weno_scheme"],
  weno_version: [0, 1],
  lmax_base: [3, 1, 2, 4],
  l_base: [3],
  nkeep: [-1, 0, 2],
  visc_order: [6, 2, 4, 8],
  force_zero_flux_min: [0, 1],
  force_zero_flux_max: [0, 1],
  sensor_threshold: [0.5, -1, 2],
  calorically_perfect: [1, 0],
  indx_cp_l: [-2],
  indx_cp_r: [4],
  ilat: [1, 2, 3, 4, 5, 6],
  start_or_end: [1, 2],
  nr_type: [1, 2, 3, 6],
  visc_model: [1, 2, 0],
  visc_power: [1],
  visc_sutherland: [2],
  visc_no: [0],
  rand_type: [0, 1],
  update_sensor: [0, 1],
  ortho: [1, 0],
  iblock: [0],
  kblock: [0],
  ite_rank_x: [0],
  itu_rank_x: [0],
  ite_l: [3],
  itu_l: [9],
  j_sponge: [5],
  jfilter: [10],
  jweno: [5],
  irecyc: [8],
  stream_id: [0],
  ndim: [3],
  ileftx: [0, -1],
  irightx: [0, -1],
  ileftz: [0, -1],
  irightz: [0, -1],
  nzmax: [11],
  n1_start_recv: [1],
  n1_start_send: [1],
  n1_end_recv: ["nz"],
  n2_start_recv: [1],
  n2_start_send: [1],
  n2_end_recv: ["nz"],
  i_rank_start: [0],
  itr1: [3],
  itr2: [8],
  its1: [3],
  its2: [8],
  j_slice: [3],
  i_win: [1, 2],
  it_win: [3],
  rgas0: [1],
  t0: [1],
  rho0: [1],
  u0: [1.3],
  l0: [1],
  p0: [1],
  prandtl: [0.72],
  tol_iter_nr: [1e-12],
  mu0: [0.01],
  sutherland_s: [0.4],
  t_ref_dim: [1],
  powerlaw_vtexp: [0.76],
  pi: [Math.PI],
  dt: [1e-3],
  gamdt: [1e-3],
  rhodt: [1e-3],
  rho_lim: [0.95],
  tem_lim: [0.95],
  rho_lim_rescale: [1],
  tem_lim_rescale: [1],
  theta_threshold: [0.3],
  teshk: [0.5],
  l0_ducros: [1],
  twall: [1.1],
  shock_angle: [0.6],
  xshock_imp: [0.5],
  tanhfacs: [0.2],
  aoa: [0.1],
  ptot0: [1.2],
  ttot0: [1.1],
  betarecyc: [0.7],
  glund1: [0.9],
};
/** Ranges of integer arrays. */
const INTEGERS: Readonly<Record<string, readonly [number, number]>> = {
  ep_ord_change: [-2, 0],
  lmax_tag: [1, 3],
  vis_tag: [1, 3],
  wall_tag: [-1, 1],
  fluid_mask: [0, 1],
  map_j_inn: [1, 13],
  map_j_out: [1, 13],
  map_j_out_blend: [1, 13],
  ijk_probe: [2, 9],
};
/** First value and width, plane by plane. */
const PLANES: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  w_aux: [
    [0.9, 0.2],
    [-0.3, 0.6],
    [-0.3, 0.6],
    [-0.3, 0.6],
    [3.5, 0.3],
    [0.95, 0.1],
    [0.01, 0.01],
    [0, 1],
    [0, 1],
    [-0.1, 0.2],
  ],
  w: [
    [0.9, 0.2],
    [-0.3, 0.6],
    [-0.3, 0.6],
    [-0.3, 0.6],
    [2.5, 0.3],
  ],
};
/** Procedures that others call in kernels. */
const INNER = /^(wenorec_1d|eigenvectors_|compute_roe_average|eigs33)/;

const stem = (name: string): string => name.replace(/_(gpu|cpu)$/, "");
type Known = Readonly<Record<string, number>>;

function scopesOf(file: string): UnitScope[] {
  const problems = new Problems();
  const tree = parse(streamsText(file), { file }, problems);
  problems.throwIfAny();
  return readSymbols([tree], { rkind: "f64", ikind: "i32" }, new Problems()).scopes;
}

/** The entry points of the CPU's file: subroutines of numbers and arrays. */
export const entryPoints = (): UnitScope[] =>
  scopesOf("singleideal/kernels_cpu.F90").filter(
    ({ unit }) => unit.kind === "procedure" && unit.form === "subroutine" && !INNER.test(unit.name),
  );

export const dummiesOf = (scope: UnitScope): Variable[] =>
  scope.unit.kind === "procedure" ? scope.unit.dummies.map((name) => scope.variables.get(name)!) : [];

/** Arguments of `allocate`, by the stems of the arrays' names. */
function allocations(): Map<string, readonly ActualArgument[]> {
  const found = new Map<string, readonly ActualArgument[]>();
  for (const scope of ["base_gpu.F90", "singleideal/singleideal_gpu.F90"].flatMap(scopesOf))
    if (scope.unit.kind !== "module")
      eachStatement(scope.unit.body, (stmt) => {
        if (stmt.kind !== "allocate") return;
        for (const { target } of stmt.arrays)
          if (target.kind === "apply" && target.base.kind === "part") found.set(stem(target.base.name), target.args);
      });
  return found;
}

function number(e: Expr | undefined, known: Known): number {
  if (!e) return 1;
  if (e.kind === "literal") return Number(e.text);
  if (e.kind === "group") return number(e.a, known);
  if (e.kind === "unary") return e.op === "-" ? -number(e.a, known) : number(e.a, known);
  if (e.kind === "name" || e.kind === "part") return known[e.name];
  if (e.kind !== "binary") throw new Error(`a bound is ${e.kind}`);
  const [a, b] = [number(e.a, known), number(e.b, known)];
  return e.op === "+" ? a + b : e.op === "-" ? a - b : e.op === "*" ? a * b : Math.trunc(a / b);
}

function randomFrom(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let t = Math.imul(s ^ (s >>> 12), 0x297a2d39);
    t ^= t >>> 15;
    return (t >>> 0) / 2 ** 32;
  };
}
const hash = (text: string): number => [...text].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);

/**
 * For each entry point the defaults, then each switch at each of its other values.
 * @param sizes in place of the defaults
 * @param wanted tells the cases to make by their ids, such as `name` and `name switch=2`
 */
export function streamsCases(sizes: Known = {}, wanted: (id: string) => boolean = () => true): Case[] {
  const allocated = allocations();
  return entryPoints().flatMap((scope) => {
    const scalars = dummiesOf(scope).filter(({ dims }) => !dims);
    const varied = scalars.flatMap(({ name }) =>
      (Object.hasOwn(SCALARS, name) ? SCALARS[name] : []).slice(1).map((value) => ({ [name]: Number(value) })),
    );
    return [{}, ...varied]
      .map((variant: Known) => ({ variant, id: idOf(scope, variant) }))
      .filter(({ id }) => wanted(id))
      .map(({ variant, id }) => made(id, scope, variant, allocated, sizes));
  });
}

const idOf = ({ unit }: UnitScope, variant: Known): string =>
  [unit.name, ...Object.entries(variant).map(([name, value]) => `${name}=${value}`)].join(" ");

function made(id: string, scope: UnitScope, variant: Known, allocated: ReadonlyMap<string, readonly ActualArgument[]>, sizes: Known): Case {
  const known: Record<string, number> = {};
  const defaults = Object.entries(SCALARS).map(([name, [first]]) => [name, first] as const);
  for (const [name, first] of defaults) if (typeof first === "number") known[name] = first;
  Object.assign(known, sizes, variant);
  for (const [name, first] of defaults)
    if (typeof first === "string" && variant[name] === undefined) known[name] = name === "weno_size" ? 2 * known[first] : known[first];
  const random = randomFrom(hash(scope.unit.name));
  const args = dummiesOf(scope).map(({ name, type, dims }): CaseArgument => {
    const isInteger = type === "i32";
    if (!dims) return { name, data: isInteger ? Int32Array.of(known[name] ?? 1) : Float64Array.of(known[name] ?? 0.5) };
    const bounds = dims.map(({ lower, upper }, axis): [number, number] => {
      const first = number(lower, known);
      if (upper && upper !== "*") return [first, number(upper, known)];
      const arg = allocated.get(stem(name))?.[axis];
      if (!arg) throw new Error(`${scope.unit.name}: no bounds are known for ${name}`);
      const [low, high] = arg.kind === "section" ? [number(arg.lower, known), number(arg.upper, known)] : [1, number(arg.value, known)];
      return [first, first + high - low];
    });
    const size = bounds.reduce((n, [low, high]) => n * (high - low + 1), 1);
    const data = isInteger ? new Int32Array(size) : new Float64Array(size);
    fill(stem(name), data, bounds.at(-1)!, random);
    return { name, bounds, data };
  });
  return { id, entry: scope.unit.name, args };
}

function fill(name: string, data: Float64Array | Int32Array, [low, high]: readonly [number, number], random: () => number): void {
  const [least, most] = Object.hasOwn(INTEGERS, name) ? INTEGERS[name] : [1, 3];
  const plane = data.length / (high - low + 1);
  const planes = Object.hasOwn(PLANES, name) ? PLANES[name] : [];
  for (let n = 0; n < data.length; n++) {
    const r = random();
    if (data instanceof Int32Array) data[n] = least + Math.floor(r * (most - least + 1));
    else if (name === "cp_coeff" || name === "cv_coeff") data[n] = n === 2 ? (name === "cp_coeff" ? 3.5 : 2.5) : 0.01 * r;
    else {
      const [first, width] = planes[Math.floor(n / plane)] ?? [0.5, 1];
      data[n] = first + width * r;
    }
  }
}
