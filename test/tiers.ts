/*
 * Which tests run when. `npm test` is the tier "default"; `npm run test:all` is every tier. A file belongs to the tier of the longest path
 * here that its own begins with.
 */

export const TIERS = ["default", "long", "backends", "browser", "apps", "docs"] as const;
export type Tier = (typeof TIERS)[number];

/** Tiers that need nothing but Node. */
export const NODE_TIERS: readonly Tier[] = ["default", "long"];

/** Files and folders by the beginning of their path, without the ending ".test.ts". */
export const TIER_OF: Readonly<Record<string, Tier>> = {
  "": "default",
  // What needs nothing but Node, but takes as long as ten others
  "changed/changed": "long",
  "cli/assess-failures": "long",
  "cli/emit": "long",
  "cli/misplaced": "long",
  "cli/port": "long",
  "device/aside": "long",
  "device/conformance/js-debug": "long",
  "device/cpu/any-range": "long",
  "domain/axis-folds": "long",
  "domain/coarser-splits": "long",
  "domain/dense/cut-axis-folds": "long",
  "domain/dense/row-folds": "long",
  "domain/particles/migration": "long",
  "kernel/read/browser/parser": "long",
  "patterns/scan": "long",
  "skeleton/plasma": "long",
  "skeleton/ranks/sampled-plan": "long",
  // Compilers, drivers and what stands in for them
  "cache/damaged-launches": "backends",
  "cli/launcher-check": "backends",
  "device/conformance/": "backends",
  "device/conformance/js": "default",
  "device/conformance/wasm": "default",
  "device/cuda/": "backends",
  "device/hip/": "backends",
  "device/native/": "backends",
  "device/opencl/": "backends",
  "device/webgpu/": "backends",
  "domain/particles/single": "backends",
  "emit/c/random": "backends",
  "emit/c/streamed-loop": "backends",
  "emit/hostile-names-compiled": "backends",
  "emit/wgsl/front-ends": "backends",
  "fortran/cloudsc": "backends",
  "fortran/cpp-compiled": "backends",
  "fortran/corpora": "backends",
  "fortran/corpora-arrays": "backends",
  "fortran/random-routines": "backends",
  "fortran/streams-hip": "backends",
  "fortran/streams-mutations": "backends",
  "fortran/streams-run": "backends",
  "fortran/streams-solver": "backends",
  "fortran/streams-text": "backends",
  // Another program reads what is written
  "io/table/astropy": "backends",
  "kernel/deep-compiled": "backends",
  "patterns/gpu-code": "backends",
  "portability/handwritten": "backends",
  "portability/ports/": "backends",
  "portability/profile/": "backends",
  "random/devices/": "backends",
  "random/devices/js": "default",
  "random/devices/js-debug": "default",
  "random/devices/wasm": "default",
  "set/mpi/": "backends",
  "skeleton/webgpu": "backends",
  // Pages in Chromium
  "bench/frames": "browser",
  "device/browser/": "browser",
  "site/": "browser",
  "testing/browser": "browser",
  // Applications of some size, and commands that run them
  "apps/": "apps",
  "apps/config": "default",
  "apps/gsr/application": "default",
  "apps/gsr/compare": "default",
  "apps/gsr/constraints": "default",
  "apps/gsr/files/inputs": "default",
  "apps/gsr/files/solutions": "default",
  "apps/gsr/generate": "default",
  "apps/gsr/glibc": "default",
  "apps/gsr/kernels": "default",
  "apps/gsr/lsqr": "default",
  "apps/gsr/scanning/coefficients": "default",
  "apps/gsr/scanning/knots": "default",
  "apps/gsr/scanning/law": "default",
  "apps/gsr/shape": "default",
  "apps/gsr/slices": "default",
  "apps/gsr/sorted": "default",
  "apps/gsr/validate": "default",
  "apps/elasticity/hexahedron": "default",
  "apps/heat/": "default",
  "apps/lbm/application": "default",
  "apps/lbm/lattice": "default",
  "apps/lbm/step": "default",
  "apps/life/": "default",
  "apps/plot": "default",
  "apps/navier-stokes/": "default",
  "apps/navier-stokes/application": "apps",
  "apps/navier-stokes/balances": "apps",
  "apps/navier-stokes/beside-original": "apps",
  "apps/navier-stokes/channel-start": "apps",
  "apps/navier-stokes/command": "apps",
  "apps/navier-stokes/field-series": "apps",
  "apps/navier-stokes/golden-central": "apps",
  "apps/navier-stokes/golden-layers": "apps",
  "apps/navier-stokes/golden-shocks": "apps",
  "apps/navier-stokes/laminar": "apps",
  "apps/navier-stokes/layers-same-bits": "apps",
  "apps/navier-stokes/noise": "apps",
  "apps/navier-stokes/same-bits": "apps",
  "apps/navier-stokes/single-precision": "apps",
  "apps/navier-stokes/spectra": "apps",
  "apps/navier-stokes/statistics-of-original": "apps",
  "apps/navier-stokes/statistics-sums": "apps",
  "apps/navier-stokes/taylor-green": "apps",
  "apps/navier-stokes/tubes": "apps",
  "apps/navier-stokes/vortex-orders": "apps",
  "apps/pic/application": "default",
  "apps/pic/checkpoint": "default",
  "apps/pic/dispersion": "default",
  "apps/pic/distribution": "default",
  "apps/pic/fields": "default",
  "apps/pic/fits": "default",
  "apps/pic/least-squares": "default",
  "apps/pic/load": "default",
  "apps/pic/maxwell": "default",
  "apps/pic/splines": "default",
  "apps/pic/trust": "default",
  "apps/poisson/multigrid": "default",
  "apps/poisson/poisson": "default",
  "apps/stream/": "default",
  "cli/assess": "apps",
  "cli/extremes/all": "apps",
  "cli/grid-options": "apps",
  "cli/interrupt": "apps",
  "cli/measure": "apps",
  "cli/profile": "apps",
  "cli/scaling": "apps",
  "cli/tuning": "apps",
  "io/memory": "apps",
  "soak/command": "apps",
  // Compilers, bundlers, minifiers and test runners
  "toolchains/": "docs",
  // Programs of the pages in docs/, and of examples/
  docs: "docs",
  examples: "docs",
  reference: "docs",
  "structure/public-names": "docs",
};

/**
 * Files and folders of the tiers "default" and "long" whose tests go over devices or compilers: `npm test` runs them on js and wasm, `test:backends` on
 * the others. Whatever else they hold runs both times unless it is skipped by `ELSEWHERE` (devices.ts).
 */
export const EVERYWHERE: readonly string[] = [
  "apps/heat/heat",
  "apps/lbm/step",
  "apps/life/life",
  "cli/emit",
  "device/components",
  "device/deterministic",
  "device/launch/known-bindings",
  "device/launch/other-numbers",
  "device/aside",
  "device/reruns",
  "device/launch/memory",
  "device/checked-indices",
  "device/faults",
  "device/owners",
  "device/random-indices",
  "device/views",
  "device/threads",
  "device/tools/hooks",
  "device/tuning/tuning",
  "domain/axis-array",
  "domain/axis-folds",
  "domain/bricks/brick-unit-grid",
  "domain/bricks/bricks",
  "domain/container/reductions",
  "domain/container/vectors",
  "domain/dense/cut-axis-folds",
  "domain/dense/dense",
  "domain/dense/packed",
  "domain/dense/row-folds",
  "domain/execution",
  "domain/ghosts",
  "domain/grid/field",
  "domain/grids",
  "domain/march",
  "domain/particles/deposit",
  "domain/particles/splits",
  "domain/particles/step-in-ball",
  "domain/particles/step-in-plane",
  "domain/particles/step-in-space",
  "domain/periodic",
  "domain/planes",
  "domain/refinement",
  "domain/regions",
  "domain/sparse/sparse",
  "domain/rolls",
  "domain/spectra",
  "domain/spread",
  "emit/c/strips",
  "emit/c/uniform-segments",
  "emit/standalone/c",
  "emit/standalone/cuda",
  "emit/standalone/metal",
  "emit/standalone/opencl",
  "emit/standalone/sycl",
  "emit/standalone/wat",
  "emit/standalone/wgsl",
  "io/checkpoint",
  "ir/builder",
  "kernel/from-ir",
  "patterns/random",
  "patterns/scan",
  "patterns/scan-of-floats",
  "patterns/sort",
  "set/copy",
  "set/deep-copy",
  "set/graph",
  "set/partitioned",
  "set/records",
  "set/scalar",
  "set/tree-sum",
  "skeleton/conjugate-gradients",
  "skeleton/every",
  "skeleton/plasma",
  "skeleton/random-skeletons",
  "skeleton/run/checked",
  "skeleton/scalar-steps",
];

/** What depends on the JavaScript engine: it is run on the newest version of Node, too. */
export const ENGINE: readonly string[] = [
  "device/conformance/js",
  "device/conformance/js-debug",
  "device/conformance/wasm",
  "device/cpu/",
  "device/js/",
  "device/wasm/",
  "emit/js/kernels",
  "emit/wasm/",
  "kernel/",
];

/** The longest of those that run each time; they are started first, then the long ones that runs take by turns (turns.ts). */
export const FIRST: readonly string[] = [
  "device/hip/conformance",
  "device/conformance/",
  "testing/browser",
  "cli/extremes/all",
  "random/devices/",
];

/** What watches the clock, or starts as many threads or processes as there are cores and waits for them: these run last, one after the other. */
export const ALONE: readonly string[] = ["cli/interrupt", "device/cpu/pool", "set/mpi/", "site/"];

/** A file's path in this folder as the lists above have it: "domain/field" of "domain/field.test.ts" or "domain/field.test.js". */
export const nameOf = (file: string): string => file.replaceAll("\\", "/").replace(/\.test\.[jt]s$/, "");

/** Whether one of `paths` begins the name. */
export const within = (name: string, paths: readonly string[]): boolean => paths.some((path) => covers(path, name));

/** The tier of a file by its name. */
export function tierOf(name: string): Tier {
  const paths = Object.keys(TIER_OF).filter((path) => covers(path, name));
  return TIER_OF[paths.reduce((longest, path) => (path.length > longest.length ? path : longest))];
}

/** A folder ends in "/"; a file is named whole. */
export const covers = (path: string, name: string): boolean =>
  path === "" || path === name || (path.endsWith("/") && name.startsWith(path));
