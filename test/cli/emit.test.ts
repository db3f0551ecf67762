import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { APPLICATIONS } from "../../src/cli/commands.js";
import { kernelsOfApplication } from "../../src/cli/found-kernels.js";
import { TARGETS } from "../../src/emit/standalone/index.js";
import { TARGET_NAMES } from "../../src/emit/standalone/names.js";
import { analyseAccess } from "../../src/ir/analysis/access.js";
import { singlePrecision } from "../../src/ir/passes/single.js";
import { verify } from "../../src/ir/verify.js";
import { ELSEWHERE } from "../devices.js";
import { inFolder, missing, run } from "../emit/standalone/compiled.js";
import { isoform, main } from "./isoform.js";

const library = new URL("../../src/index.js", import.meta.url).href;

const KERNELS = `import { f32, f64, fixed, i32, kernel, view } from "${library}";
export const scale = kernel("scale", { a: f32, x: view(f32) }, ({ a, x }, i) => {
  x[i] = a * x[i];
});
export const half = kernel("half", { x: view(f64) }, ({ x }, i) => {
  x[i] = 0.5 * x[i];
});
`;

const FIXED = `import { f64, fixed, i32, kernel, view } from "${library}";
export const power = kernel("power", { n: fixed(i32), x: view(f64) }, ({ n, x }, i) => {
  let p = 1;
  for (let k = 0; k < n; k++) p *= x[i];
  x[i] = p;
});
`;

const CONTAINERS = `import { f64 } from "${library}";
import { makeGrid } from "${new URL("../../src/domain/index.js", import.meta.url).href}";
import { skeleton } from "${new URL("../../src/skeleton/index.js", import.meta.url).href}";
export function makeSkeleton(devices, { size, grid: kind, layout, ...options }) {
  const grid = makeGrid(devices, [size, size], { kind, layout });
  const [a, b] = [grid.field("a", f64), grid.field("b", f64)];
  a.fill(1);
  const twice = grid.container("twice", { a, b }, ({ a, b }, c) => {
    b[c] = 2 * a[c];
  });
  const back = grid.container("back", { a, b }, ({ a, b }, c) => {
    a[c] = b[c] + 1;
  });
  return skeleton(devices, "both", [twice, back], options);
}
`;

/** The applications, each in all its forms. */
const FORMS = await Promise.all(
  Object.entries(APPLICATIONS).map(async ([name, { application }]) => {
    const forms = application && (await application()).application.forms;
    return (forms?.names ?? [undefined]).map((form) => [name, form] as const);
  }),
).then((all) => all.flat());

describe("isoform emit", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "isoform-cli-"));
    writeFileSync(join(folder, "kernels.mjs"), KERNELS);
    writeFileSync(join(folder, "fixed.mjs"), FIXED);
    writeFileSync(join(folder, "containers.mjs"), CONTAINERS);
    writeFileSync(join(folder, "empty.mjs"), "export const nothing = 1;\n");
    writeFileSync(join(folder, "typed.ts"), "export const nothing: number = 1;\n");
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const refuses = (words: readonly string[], message: RegExp) => {
    const { status, stderr } = isoform(["emit", ...words], folder);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  };

  it("prints the one kernel that is asked for", { skip: ELSEWHERE }, () => {
    const { status, stdout, stderr } = isoform(["emit", "kernels.mjs", "--target", "js", "--kernel", "scale"], folder);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\/\/ Kernel "scale" \(kernels\.mjs\)/);
    assert.match(stdout, /export function scale_launch\(/);
    assert.doesNotMatch(stdout, /half/);
  });

  it("writes a file for each kernel, for every target that can", { skip: ELSEWHERE }, () => {
    for (const target of TARGET_NAMES.filter((name) => name !== "wgsl" && name !== "metal")) {
      const { status, stdout, stderr } = isoform(["emit", "kernels.mjs", "--target", target, "--out", target], folder);
      assert.equal(status, 0, stderr);
      const names = readdirSync(join(folder, target));
      assert.deepEqual(stdout.trim().split("\n").sort(), names.map((name) => join(target, name)).sort());
      for (const stem of ["scale", "half"])
        assert.ok(
          names.some((name) => name.startsWith(stem) && readFileSync(join(folder, target, name), "utf8").includes("x")),
          target,
        );
    }
  });

  it("names what WGSL lacks", { skip: ELSEWHERE }, () => {
    refuses(
      ["kernels.mjs", "--target", "wgsl"],
      /kernel "half" cannot be written for wgsl: its parameter "x" is f64, which WGSL lacks \(declare it f32, or use isoform emit --float f32 or isoform port --kind NAME=f32\)/,
    );
    const { status, stdout } = isoform(["emit", "kernels.mjs", "--target", "wgsl", "--kernel", "scale"], folder);
    assert.equal(status, 0);
    assert.match(stdout, /==> scale\.wgsl <==\n[^]*@compute[^]*==> scale\.host\.mjs <==\n/);
  });

  it("writes kernels in single precision where asked", { skip: ELSEWHERE }, () => {
    const { status, stdout } = isoform(["emit", "kernels.mjs", "--target", "wgsl", "--float", "f32"], folder);
    assert.equal(status, 0);
    assert.match(stdout, /==> half\.wgsl <==/);
    const { stdout: c } = isoform(["emit", "kernels.mjs", "--target", "c", "--kernel", "half", "--float", "f32"], folder);
    assert.match(c, /float \*/);
    assert.doesNotMatch(c, /double/);
  });

  it("writes one form of an application, and refuses others", { skip: ELSEWHERE }, () => {
    const { stdout, status } = isoform(["emit", "gsr", "--target", "c", "--form", "fused", "--kernel", "sweep"], folder);
    assert.equal(status, 0);
    assert.match(stdout, /int sweep_launch\(/);
    const glob = isoform(["emit", "gsr", "--target", "c", "--global", "1", "--kernel", "a1Glob,a2Glob"], folder);
    assert.equal(glob.status, 0, glob.stderr);
    for (const name of ["a1Glob", "a2Glob"]) assert.match(glob.stdout, new RegExp(`^int ${name}_launch\\(`, "m"));
    refuses(["gsr", "--target", "c", "--kernel", "a1Glob"], /gsr has no kernel "a1Glob"/);
    refuses(["stream", "--target", "c", "--global", "1"], /--global: stream has no global section; leave the option out/);
    refuses(["gsr", "--target", "c", "--kernel", "sweep"], /gsr has no kernel "sweep"/);
    refuses(["gsr", "--target", "c", "--form", "fastest"], /--form fastest: gsr has the forms paper, fused, sorted, gathered, ordered\n/);
    refuses(["lbm", "--target", "c", "--form", "fused"], /--form: lbm has one form; leave the option out/);
    writeFileSync(
      join(folder, "lists.mjs"),
      `import { f64, kernel, list, view } from "${library}";
export const some = kernel("some", { x: view(f64), out: list(f64) }, ({ x, out }, i) => { if (x[i] > 0) out.push(x[i]); });
`,
    );
    refuses(["lists.mjs", "--target", "c"], /kernel "some" fills lists, which takes several kernels and a scan/);
    refuses(["kernels.mjs", "--target", "c", "--form", "fused"], /kernels\.mjs is a file, and files have no forms/);
  });

  it("writes every application in single precision for WGSL", { skip: ELSEWHERE }, async () => {
    const options = { precision: "fast", grid: "dense", layout: "soa", fixed: {}, size: 16 } as const;
    for (const [name, form] of FORMS) {
      const kernels = await kernelsOfApplication(name, APPLICATIONS[name], { ...options, form });
      for (const kernel of kernels) {
        const ir = singlePrecision(kernel.ir);
        verify(ir);
        const text = TARGETS.wgsl({ ...kernel, ir, access: analyseAccess(ir), precision: "fast" }).map((file) => file.text);
        assert.ok(text.length > 0, name);
      }
    }
  });

  it("compiles in values of fixed parameters", { skip: ELSEWHERE }, () => {
    refuses(["fixed.mjs", "--target", "c"], /kernel "power" has the fixed parameter n, .* give --fixed n=VALUE/);
    const { stdout } = isoform(["emit", "fixed.mjs", "--target", "c", "--fixed", "n=3"], folder);
    for (const value of ["1.5", "4294967296", "true"])
      refuses(
        ["fixed.mjs", "--target", "c", "--fixed", `n=${value}`],
        new RegExp(`--fixed n=${value}: n is i32; give a whole number from -2147483648`),
      );
    assert.match(stdout, /x_\[i\] = x_\[i\] \* x_\[i\] \* x_\[i\];|p_ \* x_\[i\]|p_ = /);
  });

  it("fuses the containers of a file", { skip: ELSEWHERE }, () => {
    const { status, stdout, stderr } = isoform(["emit", "containers.mjs", "--target", "js", "--size", "8"], folder);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /export function twice_back_launch\(/);
  });

  it("tells what is wrong with a file", { skip: ELSEWHERE }, () => {
    refuses(["nowhere.mjs", "--target", "c"], /nowhere\.mjs is neither a file nor an application/);
    refuses(["empty.mjs", "--target", "c"], /empty\.mjs exports no kernel/);
    refuses(["kernels.mjs", "--target", "c", "--kernel", "third"], /has no kernel "third": it has (half, scale|scale, half)/);
    refuses(["kernels.mjs", "--target", "fortran"], /Allowed choices are c, cuda/);
    if (!("typescript" in process.features)) refuses(["typed.ts", "--target", "c"], /does not run TypeScript; compile it to JavaScript/);
  });

  it("writes an application's fused kernels", { skip: ELSEWHERE }, () => {
    const { status, stdout, stderr } = isoform(
      ["emit", "poisson", "--target", "c", "--size", "8", "--out", join(folder, "poisson")],
      folder,
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /direction_laplace_curvature\.c/);
  });

  it("does what docs/emit.md says", { skip: missing("gcc") }, async () => {
    const page = readFileSync(new URL("../../../docs/emit.md", import.meta.url), "utf8");
    const block = (language: string) => new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(page)![1];
    const files = [
      { name: "energy.mjs", text: block("js").replace('"isoform"', JSON.stringify(library)) },
      { name: "main.c", text: block("c") },
    ];
    await inFolder(files, (where) => {
      assert.equal(isoform(["emit", "energy.mjs", "--target", "c", "--out", "."], where).status, 0);
      run(where, "gcc", "-O2", "-fopenmp", "-fwrapv", "energy.c", "main.c", "-lm", "-o", "energy");
      assert.equal(run(where, "./energy"), /^\/\/ prints: (.*)$/m.exec(page)![1] + "\n");
    });
  });

  it("ends quietly where nobody reads on", { skip: process.platform === "win32" && "no sh" }, () => {
    const command = `"${process.execPath}" "${main}" emit kernels.mjs --target c >&3; echo "ended with $?"`;
    // Nobody reads the pipe at descriptor 3.
    const { stdout, stderr } = spawnSync("sh", ["-c", `{ { ${command}; } 3>&1 1>&4 | true; } 4>&1`], { cwd: folder, encoding: "utf8" });
    assert.equal(stderr, "");
    assert.equal(stdout, "ended with 0\n");
  });

  describe("kernels of applications as C", { skip: missing("gcc") }, () => {
    for (const [name, form] of FORMS)
      it(`of ${name}${form === undefined ? "" : ` in the form ${form}`} compile`, async () => {
        const options = { precision: "fast", fixed: {}, size: 6, grid: "dense", layout: "soa" } as const;
        const kernels = await kernelsOfApplication(name, APPLICATIONS[name], { ...options, form });
        assert.ok(kernels.length > 0);
        const files = kernels.flatMap((kernel) => TARGETS.c({ ...kernel, precision: options.precision }));
        await inFolder(files, (where) =>
          run(where, "gcc", "-std=gnu11", "-fopenmp", "-Wall", "-Werror", "-fsyntax-only", ...files.map((file) => file.name)),
        );
      });
  });
});
