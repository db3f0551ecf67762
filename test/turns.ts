import type { Job } from "./jobs.js";

/*
 * Some jobs take most of a whole run's time. A run with --turn=K/N takes each N-th of them, so that N runs with other K take all; everything
 * else always runs. `npm run test:all` has no turns, `.ci/run` takes one by the commit.
 */

/** Seconds of these jobs on two cores, by `keyOf`. They need not be exact: turns shall take about the same time. */
export const SECONDS: Readonly<Record<string, number>> = {
  "apps/elasticity/elasticity": 24,
  "apps/elasticity/same-bits": 60,
  "apps/gsr/backends": 80,
  "apps/gsr/checkpoint": 65,
  "apps/gsr/command": 34,
  "apps/gsr/files/combinations": 13,
  "apps/gsr/files/system-file": 12,
  "apps/gsr/files/systems": 14,
  "apps/gsr/globals": 26,
  "apps/gsr/members": 49,
  "apps/gsr/rounded": 55,
  "apps/gsr/scanning/backends": 41,
  "apps/gsr/scanning/determined": 16,
  "apps/gsr/scanning/probes": 14,
  "apps/gsr/scanning/robust": 10,
  "apps/gsr/scanning/transits": 24,
  "apps/gsr/section-steps": 8,
  "apps/gsr/sides": 100,
  "apps/gsr/solver": 32,
  "apps/gsr/webgpu": 42,
  "apps/lbm/command": 13,
  "apps/lbm/cylinder": 12,
  "apps/lbm/in-place": 17,
  "apps/lbm/same-bits": 103,
  "apps/lbm/step (others)": 26,
  "apps/navier-stokes/application": 30,
  "apps/navier-stokes/balances": 9,
  "apps/navier-stokes/command": 21,
  "apps/navier-stokes/field-series": 8,
  "apps/navier-stokes/golden-central": 31,
  "apps/navier-stokes/golden-layers": 94,
  "apps/navier-stokes/golden-shocks": 67,
  "apps/navier-stokes/layers-same-bits": 157,
  "apps/navier-stokes/same-bits": 100,
  "apps/navier-stokes/single-precision": 95,
  "apps/navier-stokes/spectra": 10,
  "apps/navier-stokes/statistics-of-original": 12,
  "apps/navier-stokes/statistics-sums": 20,
  "apps/navier-stokes/taylor-green": 57,
  "apps/navier-stokes/tubes": 35,
  "apps/navier-stokes/vortex-orders": 45,
  "apps/pic/command": 69,
  "apps/pic/conservation": 12,
  "apps/pic/devices": 22,
  "apps/pic/gpus": 11,
  "apps/pic/identities": 56,
  "apps/pic/landau-rates": 46,
  "apps/pic/lost": 13,
  "apps/pic/named-code": 16,
  "apps/pic/push": 9,
  "apps/pic/push-variants": 32,
  "apps/pic/rates": 23,
  "apps/pic/simulation": 59,
  "apps/pic/sorting": 46,
  "apps/poisson/same-bits": 15,
  "cache/damaged-launches": 7,
  "changed/changed": 17,
  "check/command": 20,
  "check/language-service": 10,
  "check/lsp": 15,
  "cli/assess": 15,
  "cli/assess-failures": 8,
  "cli/emit": 16,
  "cli/emit (others)": 10,
  "cli/grid-options": 22,
  "cli/launcher-check": 15,
  "cli/measure": 31,
  "cli/misplaced": 7,
  "cli/port": 8,
  "cli/scaling": 41,
  "cli/tuning": 17,
  "device/aside": 10,
  "device/cpu/any-range": 32,
  "device/cuda/compile": 72,
  "device/hip/checked": 10,
  "device/hip/compile": 53,
  "device/hip/particles": 10,
  "device/hip/random": 12,
  "device/hip/sets": 17,
  "device/opencl/checked": 11,
  "device/random-lists": 15,
  "device/reruns (others)": 8,
  "device/tuning/tuning (others)": 14,
  "device/views (others)": 10,
  "device/webgpu/subgroups": 14,
  "domain/axis-folds": 14,
  "domain/axis-folds (others)": 28,
  "domain/bricks/brick-unit-grid (others)": 17,
  "domain/coarser-splits": 15,
  "domain/dense/cut-axis-folds": 32,
  "domain/dense/cut-axis-folds (others)": 8,
  "domain/dense/row-folds": 15,
  "domain/dense/row-folds (others)": 24,
  "domain/ghosts (others)": 7,
  "domain/march (others)": 18,
  "domain/particles/migration": 15,
  "domain/particles/single": 14,
  "domain/particles/step-in-plane (others)": 11,
  "domain/periodic (others)": 9,
  "domain/rolls (others)": 18,
  "emit/c/random": 8,
  "emit/hostile-names-compiled": 16,
  "emit/standalone/cpp (others)": 14,
  "emit/standalone/cuda (others)": 9,
  "emit/standalone/metal (others)": 24,
  "emit/standalone/opencl (others)": 20,
  "emit/wgsl/front-ends": 11,
  "fortran/cpp-programs": 75,
  "fortran/data-regions": 55,
  "fortran/random-data": 60,
  "fortran/random-routines": 18,
  "gradient/mutations": 150,
  "io/memory": 9,
  "kernel/deep-compiled": 10,
  "kernel/read/browser/parser": 13,
  "patterns/cells (others)": 9,
  "patterns/fft": 12,
  "patterns/fft (others)": 40,
  "patterns/fft-scipy": 50,
  "patterns/keys": 13,
  "patterns/keys (others)": 26,
  "patterns/krylov/scipy": 13,
  "patterns/krylov/solver (others)": 13,
  "patterns/scan": 11,
  "patterns/scan (others)": 39,
  "patterns/scan-of-floats (others)": 23,
  "patterns/sort (others)": 22,
  "patterns/tridiagonal (others)": 20,
  "portability/handwritten": 18,
  "portability/ports/port-device": 20,
  "random/gradients": 20,
  "set/mpi/apart-from-host": 38,
  "set/mpi/applications": 43,
  "set/mpi/containers": 41,
  "set/mpi/ends": 94,
  "set/mpi/files": 11,
  "set/mpi/heat": 8,
  "set/mpi/kills": 29,
  "set/mpi/library": 7,
  "set/mpi/messages": 7,
  "set/mpi/pic": 32,
  "set/mpi/ranks": 8,
  "set/mpi/splits": 45,
  "set/mpi/totals": 14,
  "set/records (others)": 11,
  "skeleton/every (others)": 10,
  "skeleton/plasma": 8,
  "skeleton/random-skeletons (others)": 8,
  "skeleton/ranks/sampled-plan": 22,
  "soak/command": 12,
};

/** One turn, from 1 to the number of turns. */
export interface Turn {
  readonly number: number;
  readonly of: number;
}

/** A turn as "2/4" says it; undefined without a text. Anything else is an error. */
export function turnFrom(text: string | undefined): Turn | undefined {
  if (text === undefined) return undefined;
  const [, number, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (!(number >= 1 && number <= of)) throw new Error(`a turn is K/N with K from 1 to N, not "${text}"`);
  return { number, of };
}

/** A job's name in `SECONDS`: its file, and whether it is the file's second job, on the devices of the tier "backends". */
export const keyOf = ({ name, devices }: Job): string => (devices === "others" ? `${name} (others)` : name);

/** Jobs of a turn, in their order: each long one, the longest first, goes to the turn that has least to do so far. */
export function jobsAt<T extends Job>(jobs: readonly T[], turn: Turn): T[] {
  const loads = Array.from({ length: turn.of }, () => 0);
  const turns = new Map<string, number>();
  for (const [key, seconds] of Object.entries(SECONDS).toSorted(([, a], [, b]) => b - a)) {
    const least = loads.indexOf(Math.min(...loads));
    loads[least] += seconds;
    turns.set(key, least + 1);
  }
  return jobs.filter((job) => (turns.get(keyOf(job)) ?? turn.number) === turn.number);
}

/** The turn that the runner has told this test; undefined where all cases run. */
export const TURN = turnFrom(process.env.ISOFORM_TEST_TURN);

/** Cases of a long list that this run takes: all, or each N-th from the K-th on in turn K of N. */
export const casesAt = <T>(cases: readonly T[], turn: Turn | undefined): readonly T[] =>
  turn ? cases.filter((_, at) => at % turn.of === turn.number - 1) : cases;
