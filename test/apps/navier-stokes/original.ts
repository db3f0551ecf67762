import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../../apps/navier-stokes/config/config-keys.js";
import { gasOf } from "../../../apps/navier-stokes/equations/gas.js";
import type { Progress } from "../../../apps/navier-stokes/simulation/progress-line.js";
import { readProgressLine } from "./read-progress.js";
import { ghostsOf } from "../../../apps/navier-stokes/equations/model.js";
import { schemeOf } from "../../../apps/navier-stokes/cases/channel.js";

/*
 * Runs STREAmS-2 (https://github.com/STREAmS-CFD/STREAmS-2), which is not part of this repository, as something to compare with.
 */

/** The executable: streams_2.exe, built for CPUs. */
export const ORIGINAL = process.env.ISOFORM_STREAMS2;

/** Numbers of the boundary conditions. */
const PERIODIC = 0;
const EXTRAPOLATION = 2;
const WALL = 6;
const SHOCK = 7;
const LAMINAR = 9;
const RECYCLING = 10;

/** Lines of progress of all steps on one rank. Throws where the original gives up. */
export const linesOfOriginal = (config: Config, steps: number): Progress[] =>
  progressOf(ORIGINAL!, config, steps).split("\n").filter(Boolean).map(readProgressLine);

/** What an executable writes to its file of progress on one rank. Throws where it gives up. */
export function progressOf(executable: string, config: Config, steps: number, env: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "isoform-streams-"));
  try {
    writeFileSync(join(folder, "singleideal.ini"), inputOf(config, steps));
    execFileSync("mpirun", ["--allow-run-as-root", "--oversubscribe", "-n", "1", executable], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: "pipe",
      timeout: 300_000,
    });
    const file = join(folder, "progress.out");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A configuration of a channel, layer or shock as the original's file of input. */
function inputOf(config: Config, steps: number): string {
  const { order, inflow, gas, dt } = config;
  const isChannel = config.case === "channel";
  const isShock = config.case === "shock";
  const isLaminar = inflow === "laminar";
  const sections: Record<string, Record<string, string | number>> = {
    grid: {
      grid_dim: 1,
      domain_size_x: config.lx,
      domain_size_y: isChannel ? 2 : (config.ly ?? 12),
      domain_size_z: config.lz,
      nxmax: config.nx,
      nymax: config.ny,
      nzmax: config.nz,
      ng: Math.max(isChannel ? 4 : 3, ghostsOf(schemeOf(config))),
      metrics_order: order,
      grid_type: isChannel ? 3 : isShock ? 5 : 4,
      dyptarget: config.dyPlus,
      jbgrid: config.jb,
      nywr: config.nWall ?? config.ny,
      lywr: config.lWall ?? 2,
      ysmoosteps: config.smoothing,
      ...(!isChannel && { ystag: 1 }),
    },
    bc: {
      xmin: isChannel ? PERIODIC : isLaminar ? LAMINAR : RECYCLING,
      xmax: isChannel ? PERIODIC : EXTRAPOLATION,
      ymin: WALL,
      ymax: isChannel ? WALL : isShock ? SHOCK : EXTRAPOLATION,
      zmin: PERIODIC,
      zmax: PERIODIC,
      xmin_nr: 0,
      xmax_nr: isChannel ? 0 : 1,
      ymin_nr: 0,
      ymax_nr: isChannel ? 0 : 1,
      zmin_nr: 0,
      zmax_nr: 0,
      x_recyc: config.recycleX ?? 1,
      correct_bound_ord: 1,
    },
    mpi: { x_split: 1, y_split: 1, z_split: 1 },
    controls: { restart_type: 0, cfl: dt === undefined ? config.cfl : -dt, iter_dt_recompute: config.dtEvery, num_iter: steps },
    numerics: {
      ep_order: order,
      nkeep: config.keep,
      visc_order: order,
      conservative_viscous: config.viscous === "conservative" ? 1 : 0,
      weno_scheme: (config.weno + 1) / 2,
      weno_version: config.wenoZ ? 1 : 0,
      flux_splitting: config.splitting === "rusanov" ? 1 : 0,
      sensor_threshold: config.sensorThreshold,
      rk_type: 1,
      rand_type: 0,
    },
    flow: {
      flow_init: isChannel ? 0 : 1,
      Mach: config.mach,
      Reynolds: isLaminar ? config.re! : config.reTau,
      theta_wall: config.thetaWall,
      xshock_imp: config.shockX ?? 100,
      shock_angle: config.shockAngle ?? 38.774266,
      T_ref: config.tRef,
      aoa: 0,
    },
    fluid: {
      gam: 1.4,
      Prandtl: config.prandtl,
      visc_model: config.viscosity === "power" ? 1 : 2,
      vt_exp: 0.76,
      s_suth: 110.4,
      calorically_perfect: gas === "thermal" ? 0 : 1,
      cp_coeff: airOf()
        .map((a) => a.toExponential(12))
        .join(", "),
      indx_cp_l: -2,
      indx_cp_r: 4,
    },
    output: {
      print_control: 1,
      ...Object.fromEntries(["dtsave_restart", "dtsave", "dtstat", "dtslice", "dtprobe"].map((key) => [key, 1e6])),
      ...Object.fromEntries(["igslice", "jgslice", "kgslice", "io_type_r", "io_type_w"].map((key) => [key, 0])),
      ...Object.fromEntries(["enable_stat_3d", "enable_plot3d", "enable_vtk", "debug_memory"].map((key) => [key, 0])),
    },
  };
  const lines = Object.entries(sections).map(([name, keys]) =>
    [`[${name}]`, ...Object.entries(keys).map(([key, value]) => `${key} = ${value}`)].join("\n"),
  );
  return `${lines.join("\n\n")}\n`;
}

/** Coefficients of cp/R of air, of T in kelvin, and the constant of its enthalpy; where T = 1 is 1 K, the enthalpy there is its constant and all terms. */
function airOf(): number[] {
  const { coefficients, enthalpy } = gasOf({ gas: "thermal", referenceTemperature: 1 }, 1).heat!;
  const terms = coefficients.reduce((sum, a, n) => (n === 1 ? sum : sum + a / (n - 1)), 0);
  return [...coefficients, enthalpy - terms];
}
