import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TARGETS } from "../../src/emit/standalone/index.js";
import { f64, kernel, open, range, scatter, view } from "../../src/index.js";
import { BuildNotes } from "../../src/portability/built.js";
import { buildTables } from "../../src/portability/build-tables.js";
import { codeLines, emittedLines } from "../../src/portability/lines.js";
import { PORTS } from "../../src/portability/ports/names.js";
import type { Assessment, Build } from "../../src/portability/schema.js";
import { CASES, requestOf } from "../emit/standalone/cases.js";

const scale = kernel("scale", { x: view(f64), h: scatter(f64) }, ({ x, h }, i) => {
  // Twice
  x[i] = 2 * x[i];

  h.add(0, x[i]);
});

const key = { application: "isoform-emitted-c", platform: "here", problem: "toy" };

describe("lines of code", () => {
  test("are neither blank nor comments", () => {
    assert.equal(codeLines("/* one\n   two */\nint a; // three\n\n// four\nint b;\n"), 2);
  });

  test("of a C file: its kernel is the loops with their directive", () => {
    const text =
      "#include <math.h>\n\nint f(\n  double *x\n)\n{\n  #pragma omp parallel for\n  for (;;) {\n    x[0] = 1;  // line 1\n  }\n  return 0;\n}\n";
    assert.deepEqual(emittedLines("c", text), { total: 11, kernels: 4, data: 0 });
  });

  test("of data in OpenACC and Kokkos", () => {
    const [acc] = TARGETS.openacc(requestOf(CASES[0], "fast"));
    assert.equal(emittedLines("openacc", acc.text).data, 3);
    const [kokkos] = TARGETS.kokkos(requestOf(CASES[2], "strict"));
    // The name of views, two views of arrays, one of partial results and its mirror on the host
    assert.equal(emittedLines("kokkos", kokkos.text).data, 5);
  });

  for (const port of PORTS)
    test(`of ${port} leave the launch function's head and return outside kernels`, () => {
      for (const given of CASES) {
        const [{ text }] = TARGETS[port](requestOf(given, "fast"));
        const { total, kernels, data } = emittedLines(port, text);
        assert.equal(total, codeLines(text));
        assert.ok(kernels > 0 && kernels + data < total, `${given.kernel.name}: ${kernels} + ${data} of ${total}`);
      }
    });
});

test("kernels are noted while the work goes on, and not after it", async () => {
  const device = await open("js");
  const notes = new BuildNotes("emitted-c", {
    port: "c",
    command: "cc",
    version: "cc 1",
    suffix: "c",
    options: (precision) => [`-p${precision}`],
    libraries: ["-lm"],
    remedy: "",
    depends: "",
  });
  const x = device.array(f64, 4);
  const h = device.array(f64, 1);
  await notes.during(() => device.run(scale, { x, h }, range(4)));
  await device.run(
    kernel("later", { x: view(f64) }, ({ x }, i) => void (x[i] = 1)),
    { x },
    range(4),
  );
  const { kernels, source, command, compiler } = notes.build(key, "strict")!;
  assert.deepEqual(
    { kernels, source, command, compiler },
    {
      kernels: 1,
      source: 4,
      command: "cc -pstrict -o KERNEL.so KERNEL.c -lm",
      compiler: "cc",
    },
  );
  assert.deepEqual(notes.kernelResources(key), []);
  await device.close();
});

test("tables of what was built have one row for equal ports, and dashes for what a driver does not tell", () => {
  const build: Build = {
    ...key,
    port: "c",
    compiler: "gcc",
    version: "gcc 12",
    command: "gcc -O3",
    precision: "fast",
    kernels: 2,
    lines: { total: 30, kernels: 20, data: 1 },
    source: 8,
  };
  const resources = [{ ...key, kernel: "k", registers: 32, threads: 256, occupancy: 0.5 }];
  const [compilers, lines, taken] = buildTables({ builds: [build, { ...build, problem: "other" }], resources } as unknown as Assessment);
  assert.deepEqual(compilers.rows, [["c", "here", "gcc", "gcc 12", "fast", "gcc -O3"]]);
  assert.deepEqual(lines.rows[0], [key.application, "toy", "2", "30", "20", "1", "8"]);
  assert.deepEqual(taken.rows, [[key.application, "here", "toy", "k", "32", "-", "-", "256", "-", "50"]]);
  assert.deepEqual(buildTables({ builds: [], resources: [] } as unknown as Assessment), []);
});
