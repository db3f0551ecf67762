/*
 * Who may import whom, types included. Checked by imports.test.ts; docs/architecture.md draws it.
 */

/** Files and folders that may not import each other stand together in a list. `*` stands for all that have no name here. */
export type Level = string | readonly string[];

/** By folder: what is in it, each level importing from those before it only. */
export const LAYERS: Readonly<Record<string, readonly Level[]>> = {
  ".": ["src", "apps", "site", "bench"],
  src: [
    "base",
    ["ir", "draw"],
    "cache",
    "schedule",
    ["kernel", "emit"],
    "device",
    ["patterns", "set", "testing", "fortran"],
    "domain",
    ["skeleton", "io"],
    "gradient",
    ["portability", "check"],
    "cli",
    // What the package exports; nothing in src/ goes through it.
    "*",
  ],
  "src/ir": ["*", "analysis", "passes", "gradient", "browser", "index.ts"],
  "src/cache": ["*", "browser"],
  "src/kernel": ["read", "declare", "lower", "compile.ts"],
  "src/kernel/read": ["*", "browser"],
  "src/emit": ["*", ["js", "wasm", "c"], "wgsl", "standalone"],
  "src/emit/c": ["*", "gpu", ["cuda", "opencl", "metal"], "hip", ["cuda.ts", "hip.ts", "opencl.ts"]],
  "src/device": [
    ["ffi.ts", "memory"],
    "device.ts",
    "struct-arrays.ts",
    "launch",
    "tools",
    "tuning",
    "cpu",
    "gpu",
    ["js", "wasm", "native", "debug", "cuda", "opencl", "webgpu"],
    "hip",
    "browser",
    "backends.ts",
    "*",
  ],
  "src/fortran": ["errors.ts", "tree", "text", "lex", "parse", "analyse", "complex", ["lower", "print"], "data", ["host", "port"], "*"],
  "src/domain": [
    ["mesh", "grid"],
    "container",
    "base-grid.ts",
    "indexed",
    ["dense", "sparse", "particles"],
    "bricks",
    "make-grid.ts",
    "index.ts",
  ],
  "src/skeleton": [
    "entry.ts",
    "fusion",
    "plan",
    "run",
    "ranks",
    "explain",
    "tuning",
    "skeleton.ts",
    "settings.ts",
    "sampled-plan.ts",
    "fastest-storage.ts",
    "tuned.ts",
    "index.ts",
  ],
  "src/portability": ["compile.ts", "compilers.ts", "ports", "*", "profile", "index.ts"],
  "apps/pic": ["mesh", "fields", "particles", "judgement", "simulation", "push", "results", "*"],
  "apps/navier-stokes": ["equations", "starts", "boundaries", "steps", "measures", "config", "simulation", "cases", "results", "*"],
};

/** Applications, the site, the benchmarks and the examples are written as anybody's program is: they import what `exports` in package.json names. */
export const PUBLIC_ONLY: readonly string[] = ["apps", "site", "bench", "examples"];

export interface Exception {
  /** Paths from the root of the repository; that of a folder ends in a slash. */
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** Imports against the order. */
export const EXCEPTIONS: readonly Exception[] = [
  { from: "src/device/device.ts", to: "src/device/launch/policy.ts", why: "a device is asked to launch over a policy: types only" },
  { from: "src/device/device.ts", to: "src/device/launch/chosen.ts", why: "launches tell what was chosen for them: types only" },
];

export interface Circle {
  readonly folder: string;
  readonly files: readonly string[];
  readonly why: string;
}

/** Files that import each other's types: none today. One that has to needs a reason. At run time no files import each other. */
export const TYPE_CIRCLES: readonly Circle[] = [];
