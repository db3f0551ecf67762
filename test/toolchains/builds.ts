import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

/*
 * How tools make JavaScript of the program in `program/`. Each way takes a folder whose `src` holds the TypeScript and `js` what tsc made of
 * it, and gives the command that runs the result.
 */

export interface Way {
  readonly title: string;
  /** Names of packages whose versions say what was tried. */
  readonly packages: readonly string[];
  /** Each module is minified apart, so that modules call the same things by other names. */
  readonly apart?: boolean;
  /** What runs is in no file, and mistakes are shown in the author's all the same. */
  readonly unwritten?: boolean;
  readonly build: (at: string, out: string) => Promise<readonly string[]> | readonly string[];
}

// What packages export that only a tier of its own installs.
// oxlint-disable-next-line typescript/no-explicit-any
type Package = any;

/** Imports a package that is installed in `at`. */
const load = async (at: string, name: string): Promise<Package> => {
  const path = createRequire(join(at, "package.json")).resolve(name);
  return import(pathToFileURL(path).href);
};

const node = (...args: string[]): readonly string[] => [process.execPath, ...args];
const bin = (at: string, name: string): string => join(at, "node_modules/.bin", name);

/** Runs a command of a tool to its end. */
export function run(at: string, [command, ...args]: readonly string[], environment: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: at, encoding: "utf8", env: { ...process.env, ...environment } });
  if (status !== 0) throw new Error(`${basename(command)} ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Writes each module of `from` as `change` leaves it. */
async function eachModule(from: string, out: string, change: (code: string, name: string) => unknown): Promise<readonly string[]> {
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(from).filter((file) => /^\w+\.[jt]s$/.test(file)))
    writeFileSync(join(out, name.replace(/\.ts$/, ".js")), (await change(readFileSync(join(from, name), "utf8"), name)) as string);
  return node(join(out, "main.js"));
}

async function bundle(at: string, out: string, options: Record<string, unknown>): Promise<string> {
  const { build } = await load(at, "esbuild");
  const outfile = join(out, options.format === "cjs" ? "main.cjs" : "main.mjs");
  const common = { bundle: true, platform: "node", format: "esm", packages: "external", logLevel: "error" };
  await build({ entryPoints: [join(at, "src/main.ts")], outfile, ...common, ...options });
  return outfile;
}

/** A bundle as text, minified by another tool. */
async function minifiedBundle(at: string, out: string, minify: (code: string) => unknown): Promise<readonly string[]> {
  const file = join(out, "minified.mjs");
  writeFileSync(file, (await minify(readFileSync(await bundle(at, out, {}), "utf8"))) as string);
  return node(file);
}

const esbuild = (title: string, options: Record<string, unknown>): Way => ({
  title: `esbuild, ${title}`,
  packages: ["esbuild"],
  build: async (at, out) => node(await bundle(at, out, options)),
});

async function terser(at: string, code: string): Promise<string> {
  const { minify } = await load(at, "terser");
  return (await minify(code, { module: true, compress: { passes: 3 }, mangle: true })).code;
}

async function oxc(at: string, code: string, name = "main.js"): Promise<string> {
  const { minifySync } = await load(at, "oxc-minify");
  return minifySync(name, code, { compress: true, mangle: { toplevel: true } }).code;
}

async function swc(at: string, code: string, type: "es6" | "commonjs", minify: boolean): Promise<string> {
  const { transformSync } = await load(at, "@swc/core");
  const all = minify ? { minify: { compress: { passes: 2 }, mangle: { toplevel: true } } } : {};
  return transformSync(code, { jsc: { parser: { syntax: "typescript" }, target: "es2022", ...all }, module: { type }, minify }).code;
}

const asModules = (out: string, type: "module" | "commonjs"): void => {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "package.json"), JSON.stringify({ type }));
};

const vite = (minify: boolean): Way => ({
  title: `vite build, ${minify ? "minified" : "as it is"}`,
  packages: ["vite", "rolldown"],
  async build(at, out) {
    const { build } = await load(at, "vite");
    const target = { ssr: join(at, "src/main.ts"), outDir: out, minify, emptyOutDir: false, rolldownOptions: { external: [/^isoform/] } };
    await build({ configFile: false, root: at, logLevel: "error", build: target });
    return node(join(out, "main.js"));
  },
});

const webpack = (title: string, mode: string, optimization: Record<string, unknown>, apart = false): Way => ({
  title: `webpack, ${title}`,
  packages: ["webpack"],
  apart,
  async build(at, out) {
    const { default: pack } = await load(at, "webpack");
    const output = { path: out, filename: "main.mjs", module: true, chunkFormat: "module" };
    const options = { mode, context: at, entry: join(at, "js/main.js"), target: "node20", experiments: { outputModule: true }, output };
    await new Promise<void>((resolve, reject) => {
      pack({ ...options, externals: [/^isoform/], externalsType: "module", optimization }, (error: Error | null, stats: Package) =>
        error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(),
      );
    });
    return node(join(out, "main.mjs"));
  },
});

/** A test runner: what runs is a test that calls the program. */
const TEST = 'import { ended } from "./main.js";\ntest("the program runs", () => ended, 240000);\n';

export const WAYS: readonly Way[] = [
  { title: "tsc", packages: ["typescript"], build: (at) => node(join(at, "js/main.js")) },
  {
    title: "tsc, CommonJS",
    packages: ["typescript"],
    async build(at, out) {
      const { default: ts } = await import("typescript");
      asModules(out, "commonjs");
      const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
      return eachModule(join(at, "src"), out, (code) => ts.transpileModule(code, { compilerOptions }).outputText);
    },
  },
  { title: "tsx", packages: ["tsx"], unwritten: true, build: (at) => [bin(at, "tsx"), join(at, "src/main.ts")] },
  esbuild("bundled", {}),
  esbuild("bundled and minified", { minify: true }),
  esbuild("bundled, minified, names kept", { minify: true, keepNames: true }),
  esbuild("bundled as CommonJS, minified", { minify: true, format: "cjs" }),
  {
    title: "esbuild, modules minified apart",
    packages: ["esbuild"],
    apart: true,
    async build(at, out) {
      const { transform } = await load(at, "esbuild");
      asModules(out, "module");
      return eachModule(join(at, "src"), out, async (code) => (await transform(code, { loader: "ts", minify: true, format: "esm" })).code);
    },
  },
  { title: "terser, of a bundle", packages: ["terser"], build: (at, out) => minifiedBundle(at, out, (code) => terser(at, code)) },
  {
    title: "terser, modules minified apart",
    packages: ["terser"],
    apart: true,
    build: (at, out) => (asModules(out, "module"), eachModule(join(at, "js"), out, (code) => terser(at, code))),
  },
  { title: "oxc, of a bundle", packages: ["oxc-minify"], build: (at, out) => minifiedBundle(at, out, (code) => oxc(at, code)) },
  {
    title: "oxc, modules minified apart",
    packages: ["oxc-minify"],
    apart: true,
    build: (at, out) => (asModules(out, "module"), eachModule(join(at, "js"), out, (code, name) => oxc(at, code, name))),
  },
  {
    title: "swc",
    packages: ["@swc/core"],
    build: (at, out) => (asModules(out, "module"), eachModule(join(at, "src"), out, (code) => swc(at, code, "es6", false))),
  },
  {
    title: "swc, CommonJS",
    packages: ["@swc/core"],
    build: (at, out) => (asModules(out, "commonjs"), eachModule(join(at, "src"), out, (code) => swc(at, code, "commonjs", false))),
  },
  {
    title: "swc, each module minified",
    packages: ["@swc/core"],
    build: (at, out) => (asModules(out, "module"), eachModule(join(at, "src"), out, (code) => swc(at, code, "es6", true))),
  },
  {
    title: "swc, of a bundle",
    packages: ["@swc/core"],
    build: (at, out) => minifiedBundle(at, out, (code) => swc(at, code, "es6", true)),
  },
  vite(false),
  vite(true),
  {
    title: "vite, as it serves modules",
    packages: ["vite"],
    build(at, out) {
      const file = join(out, "serve.mjs");
      const server = `{ configFile: false, root: ${JSON.stringify(at)}, server: { middlewareMode: true, ws: false }, appType: "custom", logLevel: "error" }`;
      writeFileSync(
        file,
        `import { createServer } from "vite";\nconst server = await createServer(${server});\n` +
          `await (await server.ssrLoadModule("/src/main.ts")).ended;\nawait server.close();\n`,
      );
      return node(file);
    },
  },
  webpack("development", "development", {}),
  webpack("production", "production", {}),
  webpack("production, modules apart", "production", { concatenateModules: false }, true),
  {
    title: "vitest",
    packages: ["vitest"],
    unwritten: true,
    build(at, out) {
      const file = join(at, "src/program.test.ts");
      writeFileSync(file, `import { test } from "vitest";\n${TEST}`);
      return [
        bin(at, "vitest"),
        "run",
        "--root",
        join(at, "src"),
        "--reporter",
        "verbose",
        "--disableConsoleIntercept",
        "--outputFile",
        out,
      ];
    },
  },
  {
    title: "jest, swc and CommonJS",
    packages: ["jest", "@swc/jest"],
    unwritten: true,
    async build(at, out) {
      // Jest loads CommonJS: the library as one file.
      const { build } = await load(at, "esbuild");
      const names = ["isoform", "isoform/grid", "isoform/particles", "isoform/patterns", "isoform/set", "isoform/skeleton"];
      const contents = names.map((name) => `export * from ${JSON.stringify(name)};`).join("\n");
      const library = join(out, "isoform.cjs");
      const define = { "import.meta.url": "__url" };
      const banner = { js: 'const __url = require("node:url").pathToFileURL(__filename).href;' };
      const external = ["koffi", "webgpu", "h5wasm", "hyparquet", "hyparquet-writer"];
      const stdin = { contents, resolveDir: at };
      await build({ stdin, outfile: library, bundle: true, platform: "node", format: "cjs", define, banner, external, logLevel: "error" });
      writeFileSync(join(at, "src/program.spec.ts"), TEST);
      const config = {
        rootDir: join(at, "src"),
        testMatch: ["**/*.spec.ts"],
        transform: { "\\.ts$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" } }, module: { type: "commonjs" } }] },
        moduleNameMapper: { "^isoform(/.*)?$": library, "^(\\./.*)\\.js$": "$1" },
        testEnvironment: "node",
      };
      const file = join(out, "jest.json");
      writeFileSync(file, JSON.stringify(config));
      return [bin(at, "jest"), "--config", file];
    },
  },
];
