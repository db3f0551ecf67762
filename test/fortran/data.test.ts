/* `data` statements: gfortran's bits, or a refusal at its place. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, FortranError, portSources } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";
import { compareWithGfortran, moduleOf, needsGfortran } from "./gfortran.js";

const inputs = { x: Float64Array.from({ length: 8 }, (_, n) => n - 2.5), k: Int32Array.from({ length: 8 }, (_, n) => (n * 3) % 4) };

function problemOf(text: string): string {
  try {
    fortran(text, { file: "a.F90" });
  } catch (error) {
    if (error instanceof FortranError) return error.message;
    throw error;
  }
  return "";
}

/** A routine whose loop reads `t`, `u`, `a` and what else the declarations give. */
const sub =
  (declarations: string, body: string, before = "") =>
  (name: string): string =>
    `subroutine ${name}(n, x, k, y)
integer, intent(in) :: n
real(8) :: x(n), y(n)
integer :: k(n), i
${declarations}
${before}
!$acc parallel loop
do i = 1, n
  ${body}
end do
end subroutine`;

const CASES: Readonly<Record<string, (name: string) => string>> = {
  scalars: sub("real(8) :: a, b\ninteger :: m\nlogical :: q\ndata a, b /1.5d0, -2d0/, m /3/ q /.true./", "if (q) y(i) = a*x(i) + b + m"),
  arrays: sub("real(8) :: a(4), b(0:1)\ndata a /1d0, 2*2.5d0, -3/, b /2*4/", "y(i) = a(k(i) + 1) + b(mod(i, 2))"),
  elements: sub("real(8) :: a(4)\ndata a(2), a(4) /1d0, 2d0/\ndata a(1), a(3) /2*0.5/", "y(i) = a(k(i) + 1)"),
  loops: sub(
    "integer, parameter :: m = 2\nreal(8) :: a(m, 2*m), b(4)\ninteger :: j\ndata ((a(j, l), j = 1, m), l = 1, 2*m) /1, 2, 3, 4, 5, 6, 7, 8/\ndata (b(j), j = 4, 1, -1) /1, m*2, 3/\ninteger :: l",
    "y(i) = a(1 + mod(i, 2), k(i) + 1) + 10*b(k(i) + 1)",
  ),
  matrices: sub("real(8) :: a(2, 0:1)\ndata a /1, 2, 3, 4/", "y(i) = a(1 + mod(i, 2), k(i)/2)"),
  changed: sub("real(8) :: a(3), s\ndata a /1, 2, 3/, s /5/", "y(i) = a(1 + mod(i, 3)) + s", "a(2) = a(2) + 10\ns = s + 1"),
  declared: sub("real(8) :: a(3) = [1d0, 2d0, 3d0], b(2, 2) = 4", "y(i) = a(1 + mod(i, 3)) + b(1, 2)", "a(2) = 7\nb(1, 2) = b(1, 1) + 1"),
  modules: sub("", "y(i) = table(k(i) + 1) + shift", "table(1) = table(1) + 1"),
};

describe("data statements", () => {
  it("have gfortran's bits", needsGfortran, async () => {
    const cases = new Map(Object.entries(CASES).map(([name, text]) => [`t_${name}`, text(`t_${name}`)]));
    const table = "real(8) :: table(4), shift\ndata table, shift /1, 2, 3, 4, 0.5d0/";
    await compareWithGfortran(cases, inputs, ["js", "wasm"], () => 0, table);
  });

  it("give values that stay from call to call", async () => {
    const code = fortran(moduleOf([CASES.changed("t")]), { file: "a.F90" });
    const device = await open("js");
    const args = { n: 3, x: device.array(f64, 3), k: device.array(i32, 3), y: device.array(f64, 3) };
    for (const y of [
      [18, 9, 7],
      [29, 10, 8],
    ]) {
      await code.routine("t").run(device, args);
      assert.deepEqual([...(await device.queue.read(args.y))], y);
    }
    await device.close();
  });

  it("are kept in ports", () => {
    const [{ text }] = portSources([{ file: "a.F90", text: moduleOf([CASES.arrays("t")]) }], { targets: ["openmp"] });
    assert.match(text, /data a \/1d0, 2\*2\.5d0, -3\/, b \/2\*4\//);
  });

  const REFUSED: Readonly<Record<string, string>> = {
    "too few values": "real(8) :: a(4)\ndata a /1, 2/",
    "too many values": "real(8) :: a(2)\ndata a /3*1/",
    "an element outside": "real(8) :: a(2)\ndata a(3) /1/",
    "bounds that are not constant": "real(8) :: a(2)\ndata (a(j), j = 1, n) /1, 2/",
    "a section": "real(8) :: a(2)\ndata a(1:2) /1, 2/",
    "a count without end": "real(8) :: a(2)\ndata a /2000000000*1/",
    "a loop without end": "real(8) :: a(2)\ndata (a(1), j = 1, 2000000000) /2*1/",
  };
  for (const [what, declarations] of Object.entries(REFUSED))
    it(`are refused with ${what}`, () => {
      const text = moduleOf([sub(declarations, "y(i) = a(1)")("t")]);
      assert.match(problemOf(text), /^a\.F90:15:10: data :: a: its values cannot be told/);
    });

  it("that cannot be read are refused where their variables are used", () => {
    const text = (line: string): string => moduleOf([sub(`real(8) :: a(2), b\n${line}`, "y(i) = b")("t")]);
    assert.match(problemOf(text("data a /1, 2/, b 3")), /^a\.F90:15:10: data :: b: its `data`/);
  });
});
