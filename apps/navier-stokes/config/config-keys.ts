import { GAS_DEFAULTS, GASES, VISCOSITIES } from "../equations/gas.js";
import { ORDERS } from "../equations/schemes.js";
import { VISCOUS_FORMS } from "../equations/viscous.js";
import { WENO_ORDERS, WENO_SPLITTINGS } from "../equations/weno.js";

/*
 * The keys of a run's configuration: their values, meanings, cases and defaults, told here alone. TOML files use them as they are,
 * options with dashes in place of underscores, programs in camel case (`Config`). Choices between schemes are told beside their equations.
 */

export const CASES = ["channel", "layer", "shock", "box", "tube"] as const;
/** `channel`, `layer`, `shock`, `box` or `tube`. */
export type CaseName = (typeof CASES)[number];

/** Flows by the cases that have a choice of them; pages check with them and go without the table. */
export const FLOWS = { box: ["vortex", "taylor-green"], tube: ["sod", "shu-osher"] } as const satisfies Partial<
  Record<CaseName, readonly string[]>
>;
const INFLOWS = ["recycling", "laminar"] as const;

/** Values that a key takes. */
export type Kind =
  | { readonly is: "count"; readonly from: number }
  | { readonly is: "whole"; readonly from: number }
  | { readonly is: "positive" | "number" | "nonNegative" | "flag" }
  | {
      readonly is: "choice";
      readonly of: readonly (string | number)[];
      /** Cases that take some of them only. */
      readonly in?: Partial<Record<CaseName, readonly string[]>>;
    };

export interface Key {
  readonly name: string;
  readonly kind: Kind;
  /** For the help of a case. */
  readonly meaning: string | ((name: CaseName) => string);
  /** Default: all cases. */
  readonly cases?: readonly CaseName[];
  /** Whether a configuration may lack it in a case that has it. */
  readonly optional?: true;
  /** Whether a run that goes on from a checkpoint may change it. */
  readonly free?: true;
}

/** Meaning of a key in a case. */
export const meaningOf = ({ meaning }: Key, name: CaseName): string => (typeof meaning === "string" ? meaning : meaning(name));

const COUNT = { is: "count", from: 1 } as const;
const NONE_OR_MORE = { is: "whole", from: 0 } as const;
const POSITIVE = { is: "positive" } as const;
const NUMBER = { is: "number" } as const;
const FLAG = { is: "flag" } as const;
const choice = <const Of extends readonly (string | number)[]>(of: Of) => ({ is: "choice", of }) as const;

const WALLS = ["channel", "layer", "shock"] as const;
const LAYERS = ["layer", "shock"] as const;

/** Whether a case has a boundary layer on one wall. */
export const isLayer = (name: CaseName): boolean => (LAYERS as readonly CaseName[]).includes(name);

const BLOCKS = ["channel", "layer", "shock", "box"] as const;

/** The unit of lengths. */
const UNITS: Readonly<Record<CaseName, string>> = {
  channel: ", in half heights of the channel",
  layer: ", in thicknesses of the layer at x = 0",
  shock: ", in thicknesses of the layer at x = 0",
  box: "",
  tube: "",
};
const length = (what: string) => (name: CaseName) => what + UNITS[name];

const REYNOLDS: Readonly<Record<CaseName, string>> = {
  channel: "Reynolds number of the bulk flow; default: the one of turbulent flow at re_tau",
  layer: "Reynolds number of the free stream, with a laminar inflow; otherwise it follows from re_tau",
  shock: "Reynolds number of the free stream, with a laminar inflow; otherwise it follows from re_tau",
  box: "Reynolds number; without it the flow has no viscosity",
  tube: "",
};

const TABLE = [
  {
    name: "flow",
    kind: { ...choice([...FLOWS.box, ...FLOWS.tube]), in: FLOWS },
    meaning: "flow at the start",
    cases: ["box", "tube"],
    optional: true,
  },
  { name: "nx", kind: COUNT, meaning: "cells along x" },
  { name: "ny", kind: COUNT, meaning: (name) => (name === "box" ? "cells along y" : "cells along y, across the flow"), cases: BLOCKS },
  { name: "nz", kind: COUNT, meaning: "cells along z", cases: BLOCKS },
  { name: "lx", kind: POSITIVE, meaning: length("length along x") },
  { name: "ly", kind: POSITIVE, meaning: length("length along y"), cases: ["layer", "box"] },
  { name: "lz", kind: POSITIVE, meaning: length("length along z"), cases: BLOCKS },
  { name: "dy_plus", kind: POSITIVE, meaning: "height of the first cell at a wall, in wall units", cases: WALLS },
  {
    name: "re_tau",
    kind: POSITIVE,
    meaning: (name) =>
      `friction Reynolds number, by ${name === "channel" ? "the channel's half height" : "the layer's thickness at x = 0"}`,
    cases: WALLS,
  },
  { name: "re", kind: POSITIVE, meaning: (name) => REYNOLDS[name], cases: BLOCKS, optional: true },
  { name: "mach", kind: POSITIVE, meaning: "Mach number" },
  {
    name: "theta_wall",
    kind: NUMBER,
    meaning: (name) =>
      `temperature of the wall: 0 for the stream's, 1 for the temperature of a wall without heat flux${name === "channel" ? "; below -1 no heat is taken out of the flow" : ""}`,
    cases: WALLS,
  },
  { name: "cfl", kind: { is: "nonNegative" }, meaning: "Courant number, which gives the time step; 0: dt gives it", free: true },
  { name: "dt", kind: POSITIVE, meaning: "fixed time step, in place of cfl", optional: true, free: true },
  { name: "dt_every", kind: COUNT, meaning: "steps after which the time step is chosen again" },
  { name: "steps", kind: NONE_OR_MORE, meaning: "steps of the run", free: true },
  {
    name: "time",
    kind: POSITIVE,
    meaning: "simulated time at which the run ends, if that comes before its last step",
    optional: true,
    free: true,
  },
  { name: "stats_every", kind: NONE_OR_MORE, meaning: "steps from one sample of the statistics to the next; 0: no samples", free: true },
  {
    name: "spectra_every",
    kind: NONE_OR_MORE,
    meaning: "steps from one sample of the spectra to the next; 0: no samples",
    cases: ["channel", "box"],
    optional: true,
    free: true,
  },
  {
    name: "sensor_threshold",
    kind: NUMBER,
    meaning: "value of the shock sensor above which a face's flux is by WENO; below 0: everywhere, above 1: nowhere",
  },
  { name: "order", kind: choice(ORDERS), meaning: "order of the central differences" },
  { name: "keep", kind: { is: "whole", from: -1 }, meaning: "central fluxes: KEP (-1), KEEP (0) or KEEP(n)" },
  { name: "weno", kind: choice(WENO_ORDERS), meaning: "order of WENO" },
  { name: "weno_z", kind: FLAG, meaning: "take the weights of WENO-Z, of fifth order, instead of Jiang and Shu's" },
  { name: "splitting", kind: choice(WENO_SPLITTINGS), meaning: "WENO's fluxes: by characteristics (roe) or by components (rusanov)" },
  { name: "viscous", kind: choice(VISCOUS_FORMS), meaning: "form of the viscous terms" },
  { name: "viscosity", kind: choice(VISCOSITIES), meaning: "how the viscosity depends on temperature" },
  { name: "gas", kind: choice(GASES), meaning: "heat capacities: constant (perfect) or by temperature (thermal)" },
  { name: "prandtl", kind: POSITIVE, meaning: "Prandtl number" },
  { name: "t_ref", kind: POSITIVE, meaning: "reference temperature, in kelvin" },
  { name: "n_wall", kind: COUNT, meaning: "cells of the fine layer at the wall", cases: LAYERS },
  { name: "l_wall", kind: POSITIVE, meaning: length("height of the fine layer at the wall"), cases: LAYERS },
  { name: "inflow", kind: choice(INFLOWS), meaning: "turbulent, with fluctuations from downstream (recycling), or laminar", cases: LAYERS },
  { name: "recycle_x", kind: POSITIVE, meaning: length("x at which the inflow's fluctuations are taken"), cases: LAYERS },
  { name: "shock_angle", kind: POSITIVE, meaning: "angle between the stream and the shock, in degrees", cases: ["shock"] },
  { name: "shock_x", kind: POSITIVE, meaning: length("x at which the shock would meet the wall without a layer"), cases: ["shock"] },
  {
    name: "random",
    kind: FLAG,
    meaning: "add noise to the velocity at the start, of 2 % of its scale; the same on all devices",
    cases: WALLS,
  },
  { name: "smoothing", kind: NONE_OR_MORE, meaning: "how often the cells' sizes across the flow are smoothed", cases: WALLS },
  { name: "jb", kind: POSITIVE, meaning: "number of the cell from which sizes grow with the distance from the wall", cases: WALLS },
] as const satisfies readonly Key[];

/** The keys of all cases. */
export const KEYS: readonly Key[] = TABLE;

/** Values that a key takes in a case; undefined where it takes more than a few. */
export const choicesOf = ({ kind }: Key, name: CaseName): readonly (string | number)[] | undefined =>
  kind.is === "choice" ? (kind.in?.[name] ?? kind.of) : undefined;

type Row = (typeof TABLE)[number];
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;
type ValueOf<K extends Kind> = K extends { is: "flag" }
  ? boolean
  : K extends { is: "choice"; of: readonly (infer Value)[] }
    ? Value
    : number;
type ValuesOf<Rows extends Row> = { readonly [R in Rows as CamelCase<R["name"]>]: ValueOf<R["kind"]> };
type Optional = Extract<Row, { optional: true }>;

/** A configuration: values of all keys of a case. `isoform navier-stokes CASE --help` says what each means. */
export interface Config extends ValuesOf<Exclude<Row, Optional>>, Partial<ValuesOf<Optional>> {
  readonly case: CaseName;
}

/** Values that somebody has given; the rest have the case's defaults. */
export type Given = Partial<Omit<Config, "case">>;

const COMMON: Given = {
  dtEvery: 1,
  steps: 100,
  statsEvery: 0,
  order: 6,
  keep: 0,
  weno: 5,
  wenoZ: false,
  splitting: "roe",
  viscous: "conservative",
  viscosity: GAS_DEFAULTS.viscosity,
  gas: GAS_DEFAULTS.gas,
  prandtl: GAS_DEFAULTS.prandtl,
  tRef: GAS_DEFAULTS.referenceTemperature,
};

const AT_WALLS: Given = { ...COMMON, random: false, smoothing: 50, jb: 32 };

const LAYER: Given = {
  ...AT_WALLS,
  nx: 128,
  ny: 64,
  nz: 16,
  lx: 20,
  ly: 12,
  lz: 3,
  dyPlus: 0.8,
  reTau: 200,
  mach: 2,
  thetaWall: 1,
  cfl: 0.7,
  sensorThreshold: 0.2,
  nWall: 40,
  lWall: 2.5,
  inflow: "recycling",
  recycleX: 15,
};

const TUBE: Given = { ...COMMON, ny: 1, nz: 1, ly: 1, lz: 1, viscous: "none", sensorThreshold: -1 };

const TWO_PI = 2 * Math.PI;

/** Factor of the time step on a grid of another number of cells along each axis. */
const stepOn = (cells: number, { nx = 1, ny = 1, nz = 1 }: Given): number => Math.min(1, cells / Math.max(nx, ny, nz));

/** Defaults of a case. */
export function defaultsOf(name: CaseName, given: Given): Given {
  switch (name) {
    case "channel":
      return {
        ...AT_WALLS,
        nx: 32,
        ny: 36,
        nz: 32,
        lx: 12,
        ly: 2,
        lz: 6,
        dyPlus: 0.7,
        reTau: 180,
        mach: 0.2,
        thetaWall: -2.5,
        cfl: 0.8,
        spectraEvery: 0,
        sensorThreshold: 1.01,
      };
    case "layer":
    case "shock": {
      const shock = name === "shock" ? { shockAngle: 38.774266, shockX: 12 } : {};
      if (given.inflow !== "laminar") return { ...LAYER, ...shock };
      const re = given.re ?? 1000;
      return { ...LAYER, ...shock, re, reTau: re, nx: 64, nz: 8, cfl: 0.4 };
    }
    case "box": {
      if (given.flow === "taylor-green") {
        const mach = given.mach ?? 0.2;
        // On 32 cells along an axis 62 steps to a unit of time; on more, waves cross as large a part of a cell in a step.
        const dt = given.cfl ? {} : { dt: stepOn(32, given) / (62 * mach * Math.sqrt(1.4)) };
        const [box, gas] = [{ lx: TWO_PI, ly: TWO_PI, lz: TWO_PI, nx: 32, ny: 32, nz: 32 }, { viscosity: "constant" } as const];
        return {
          ...COMMON,
          ...box,
          ...gas,
          ...dt,
          spectraEvery: 0,
          flow: "taylor-green",
          mach,
          re: 100,
          viscous: "expanded",
          cfl: 0,
          sensorThreshold: 1.01,
        };
      }
      const viscous = given.re === undefined ? "none" : "conservative";
      const box = { lx: 16, ly: 16, lz: 1, nx: 64, ny: 64, nz: 1, cfl: 0, ...(given.cfl ? {} : { dt: 0.01 * stepOn(256, given) }) };
      return { ...COMMON, ...box, spectraEvery: 0, flow: "vortex", mach: 1, viscous, sensorThreshold: 1.01 };
    }
    case "tube":
      if (given.flow === "shu-osher") return { ...TUBE, flow: "shu-osher", nx: 401, lx: 10, mach: 3, cfl: 0.5, time: 1.8, steps: 100_000 };
      return {
        ...TUBE,
        flow: "sod",
        nx: 200,
        lx: 1,
        mach: 1,
        cfl: 0,
        ...(given.cfl ? {} : { dt: 0.2 / (given.nx ?? 200) }),
        time: 0.2,
        steps: 100_000,
      };
    default:
      return unreachable(name);
  }
}

function unreachable(name: never): never {
  throw new Error(`a case ${String(name)}`);
}
