/* The right side of an array's assignment is taken as it was before, as gfortran takes it. */
import assert from "node:assert/strict";
import test from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";
import { byGfortran, compareWithGfortran, moduleOf, needsGfortran } from "./gfortran.js";

const N = 24;
const inputs = {
  x: Float64Array.from({ length: N }, (_, n) => 3 * Math.sin(1.7 * n)),
  k: Int32Array.from({ length: N }, (_, n) => (7 * n) % 11),
};

/** A routine over whole arrays; `w` is an array of each element. */
const whole = (name: string, body: string): string => `
  subroutine ${name}(n, x, k, y)
    integer, intent(in) :: n
    real(8), device :: x(n), y(n)
    integer, device :: k(n)
    ${body.split("\n").join("\n    ")}
  end subroutine`;
const element = (name: string, body: string): string => `
  subroutine ${name}(n, x, k, y)
    integer, intent(in) :: n
    real(8), device :: x(n), y(n)
    integer, device :: k(n)
    integer :: i
    real(8) :: w(4)
    !$acc parallel loop private(w)
    do i = 1, n
      w = [x(i), 2.0d0, 3.0d0, 5.0d0]
      ${body.split("\n").join("\n      ")}
      y(i) = w(1) + 2*w(2) + 4*w(3) + 8*w(4)
    end do
  end subroutine`;

const WHOLE = [
  "y = x\ny = y/sum(y)",
  "y = x\ny = y - y(3)*maxval(y(2:4))",
  "y(1:n) = x\ny(1:n) = 2*x(1:n) + y(1:n)\ny(:) = y + 1\ny = y(:)*y",
  "y = x\ny(1:n) = y(1:n) + size(y) + ubound(y, 1)",
  "y(1:n:2) = x(n:1:-2)\ny(2:n:2) = 1\ny(2:n:2) = y(2:n:2)*sqrt(abs(x(1:n:2)))",
  "!$acc kernels\ny(1:n) = 2*x(1:n)\n!$acc end kernels\n!$acc kernels\nwhere (y > 1)\n  y = y - 1\nelsewhere (y < -1)\n  y = -1\nend where\n!$acc end kernels",
];
const ELEMENT = [
  "w = w/sum(w)",
  "w(4:1:-1) = w",
  "w(2:4) = w(1:3)",
  "w = w*w(1) + minval(w(2:3))",
  "w(:) = w(:) + w",
  "w(1:3) = w(2:4) + w(1:3)",
];

test("array assignments do what gfortran's do", needsGfortran, async () => {
  const routines = [...WHOLE.map((body, n) => whole(`w${n}`, body)), ...ELEMENT.map((body, n) => element(`e${n}`, body))];
  const named = new Map(routines.map((text) => [/subroutine (\w+)/.exec(text)![1], text]));
  const [first] = byGfortran(moduleOf([...named.values()]), ["w0"], inputs);
  assert.ok(Math.abs(first.reduce((sum, value) => sum + value) - 1) < 1e-12);
  await compareWithGfortran(named, inputs, ["js", "wasm"], () => 1e-15);
});

test("what would need a copy of unknown size is refused", async () => {
  const device = await open("js");
  const arrays = { n: 4, x: device.array(f64, 4), k: device.array(i32, 4), y: device.array(f64, 4) };
  for (const [body, told] of [
    ["y(2:n) = y(1:n-1)", /:6:5: y: the right side may read elements that were assigned before, .*\(write a do loop/],
    ["where (y > 0) y = y/sum(y)", /:6:\d+: y: where assigns it, and reads other elements of it \(write a do loop\)/],
  ] as const) {
    const routine = fortran(whole("s", body), { file: "a.f90" }).routine("s");
    await assert.rejects(routine.run(device, arrays), told);
    const loop = "do concurrent (i = 1:n)\ny(i) = 1\nend do";
    assert.throws(
      () => fortran(whole("s", `integer :: i\n${body}\n${loop}`), { file: "a.f90" }),
      /: y: (the right side may|where assigns)/,
    );
  }
});
