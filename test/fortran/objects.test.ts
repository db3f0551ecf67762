/* Objects of derived types, whose components are variables: gfortran's bits, or a refusal at its place. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";
import { compareWithGfortran, needsGfortran } from "./gfortran.js";

const N = 9;
const inputs = {
  x: Float64Array.from({ length: N }, (_, n) => 3 * Math.sin(1.7 * n)),
  k: Int32Array.from({ length: N }, (_, n) => ((7 * n) % 11) - 3),
};

const TYPES = `type par
real(8) :: g = 0.5d0, w(3)
integer :: n = 4
end type
type field
type(par) :: p
real(8), allocatable :: a(:), b(:)
end type
type item
real(8) :: v = 2
type(item), pointer :: next => null()
end type
type(par) :: shared`;

const OBJECTS = `type(field) :: f, h
type(par) :: p, q
integer :: i
real(8) :: r`;

/** A subroutine with objects, these statements, and `more` behind `contains`. */
const sub =
  (statements: string, more = "", declarations = "") =>
  (name: string): string =>
    `subroutine ${name}(n, x, k, y)
integer, intent(in) :: n
real(8), target :: x(n), y(n)
integer :: k(n)
${OBJECTS}
${declarations}
${statements}
${more && `contains\n${more}`}
end subroutine`;
const loop = (...body: string[]): string => loopWith("", ...body);
const loopWith = (clauses: string, ...body: string[]): string => `!$acc parallel loop ${clauses}\ndo i = 1, n\n${body.join("\n")}\nend do`;

const SCALED =
  "real(8) function scaled(p, x) result(y)\ntype(par), intent(in) :: p\nreal(8), intent(in) :: x\ny = p%g*x + p%n\nend function";
const SET =
  "subroutine put(p, g, m)\ntype(par), intent(inout) :: p\nreal(8), intent(in) :: g\ninteger, intent(in) :: m\np%g = g\np%n = p%n + m\nend subroutine";

const CASES: Readonly<Record<string, (name: string) => string>> = {
  beginning: sub(loop("y(i) = p%g*x(i) + p%n")),
  argument: sub(`p%g = 3\n${loop("y(i) = scaled(p, x(i))")}`, SCALED),
  argument_keyword: sub(`p%g = 3\n${loop("y(i) = scaled(x=x(i), p=p)")}`, SCALED),
  argument_part: sub(`f%p%g = 3\nf%p%n = 2\n${loop("y(i) = scaled(f%p, x(i))")}`, SCALED),
  argument_of_argument: sub(
    `f%p%g = 3\nf%p%n = 2\n${loop("y(i) = outer(f, x(i))")}`,
    `real(8) function outer(p, x)\ntype(field), intent(in) :: p\nreal(8), intent(in) :: x\nouter = scaled(p%p, x + p%p%g)\nend function\n${SCALED}`,
  ),
  // The dummy `q` of the procedure is the caller's `p`, and its own `p` is another.
  names_crossed: sub(
    `p%g = 3\nq%g = 5\n${loop("y(i) = crossed(p, q, x(i))")}`,
    "real(8) function crossed(q, p, x)\ntype(par), intent(in) :: q, p\nreal(8), intent(in) :: x\ncrossed = q%g*x - p%g\nend function",
  ),
  local: sub(
    loop("y(i) = made(x(i))"),
    `real(8) function made(x)\nreal(8), intent(in) :: x\ntype(par) :: o\no%n = o%n + 1\no%w(2) = x\nmade = scaled(o, o%w(2))\nend function\n${SCALED}`,
  ),
  private: sub(loopWith("private(q)", "q%g = x(i)", "q%n = k(i)", "y(i) = scaled(q, 2d0)"), SCALED),
  assigned_in_call: sub(
    loopWith("firstprivate(q)", "q%g = 0", "q%n = 4", "call put(q, x(i), k(i) - q%n)", "y(i) = scaled(q, 2d0)"),
    `${SCALED}
${SET}`,
  ),
  assigned_on_host: sub(`call put(f%p, 7d0, 2)\ncall put(f%p, f%p%g + 1, 2)\n${loop("y(i) = scaled(f%p, x(i))")}`, `${SCALED}\n${SET}`),
  arrays: sub(
    `p%w = [1d0, 2d0, 4d0]\nq%w = 0\n${loop("y(i) = p%w(mod(i, 3) + 1)*x(i) + sum(p%w) + weight(p, 2)")}`,
    "real(8) function weight(o, j)\ntype(par), intent(in) :: o\ninteger, intent(in) :: j\nweight = o%w(j) + o%w(1)\nend function",
  ),
  arrays_written: sub(
    `allocate(f%b(0:n-1))\n${loop("call step(f, i)")}\ny = f%b`,
    "subroutine step(o, i)\ntype(field), intent(inout) :: o\ninteger, intent(in) :: i\no%b(i-1) = 2*x(i) + o%p%n\nend subroutine",
  ),
  allocated_in_call: sub(
    `call make(f, n)\n${loop("y(i) = f%a(i) + f%p%w(3)")}`,
    "subroutine make(o, m)\ntype(field), intent(inout) :: o\ninteger, intent(in) :: m\nallocate(o%a(m))\no%a = x\no%p%w = 6\no%p%n = 3\nend subroutine",
  ),
  freed_in_call: sub(
    `allocate(f%a(2))\ncall release(f)\nif (allocated(f%a)) then\ny = 1\nelse\ny = 2\nend if\n${loop("y(i) = 2*y(i)")}`,
    "subroutine release(o)\ntype(field), intent(inout) :: o\ndeallocate(o%a)\nend subroutine",
  ),
  associated: sub(`f%p%g = 3\n${loop("associate (o => f%p, g => f%p%g)", "y(i) = o%g*x(i) + o%n + g", "end associate")}`),
  reduction: sub(
    `p%g = 2
r = 1
${loopWith("reduction(max:r)", "r = max(r, scaled(p, x(i)))")}
y = r`,
    SCALED,
  ),
  of_host: sub(`p%n = 0\ndo i = 1, n\np%n = p%n + k(i)\nif (p%n > 3) p%g = p%g + x(i)\nend do\n${loop("y(i) = p%g*i + p%n")}`),
  list: sub(
    `p%g = 1\n${loop("y(i) = first(x(i))")}`,
    "real(8) function first(x)\nreal(8), intent(in) :: x\ntype(item) :: o\no%v = o%v + x\nfirst = valued(o)\nend function\nreal(8) function valued(o)\ntype(item), intent(in) :: o\nvalued = o%v\nend function",
  ),
  of_module: sub(`shared%n = 3\ncall put(shared, 4d0, 1)\n${loop("y(i) = shared%g*x(i) + scaled(shared, 1d0)")}`, `${SCALED}\n${SET}`),
  type_within: (name) =>
    `subroutine ${name}(n, x, k, y)\ninteger, intent(in) :: n\nreal(8) :: x(n), y(n)\ninteger :: k(n), i
type par\nreal(8) :: g = 2\nend type\ntype(par) :: p\n${loop("y(i) = scaled(p, x(i))")}
contains\nreal(8) function scaled(o, x)\ntype(par), intent(in) :: o\nreal(8), intent(in) :: x\nscaled = o%g*x\nend function\nend subroutine`,
  beside_variables: sub(
    "p_g = 1\np%g = 3\np_n = p%n + 1\nf%p%w = 5\n" +
      loopWith("private(f_p_w)", "f_p_w = p%g*x(i) + p_g", "y(i) = f_p_w(2) + f%p%w(1) + p_n"),
    "",
    "real(8) :: p_g, f_p_w(2)\ninteger :: p_n",
  ),
  optional: sub(
    `p%g = 3\n${loop("y(i) = either() + either(p) + handed(p) + handed()")}`,
    "real(8) function either(o)\ntype(par), optional :: o\neither = 1\nif (present(o)) either = o%g\nend function\nreal(8) function handed(o)\ntype(par), optional :: o\nhanded = either(o)*10\nend function",
  ),
  intent_out: sub(
    `p%g = 3\np%n = 9\ncall reset(p)\n${loop("y(i) = p%g + p%n")}`,
    "subroutine reset(o)\ntype(par), intent(out) :: o\no%n = o%n + 1\nend subroutine",
  ),
  shadowed: sub(
    `p%g = 3\n${loop("y(i) = inner(x(i))")}`,
    "real(8) function inner(x)\nreal(8), intent(in) :: x\ntype(par) :: q\nq%g = x\nq%n = 1\ninner = q%g + p%g + q%n\nend function",
  ),
};

describe("objects", () => {
  it("have gfortran's bits", needsGfortran, async () => {
    const routines = new Map(Object.entries(CASES).map(([name, text]) => [name, text(name)]));
    await compareWithGfortran(routines, inputs, ["js", "wasm"], () => 0, TYPES);
  });

  const GLOBAL = `module m
${TYPES}
contains
attributes(global) subroutine k(n, p, f, y)
integer, value :: n
type(par), value :: p
type(field) :: f
real(8) :: y(n)
integer :: i
i = (blockidx%x - 1)*blockdim%x + threadidx%x
if (i > n) return
p%n = p%n + i
f%a(i) = f%a(i)*p%g
y(i) = f%a(i) + p%n + f%p%w(2)
end subroutine
subroutine run(n, f, y)
integer, intent(in) :: n
type(field), device :: f
real(8), device :: y(n)
type(par) :: p
p%g = 2
p%n = 10
call k<<<1, 32>>>(n, p, f, y)
y(1) = y(1) + p%n
end subroutine
end module`;

  it("are arguments of kernels of CUDA Fortran", async () => {
    const device = await open("js");
    const [y, f_a, f_p_w] = [
      [0, 0, 0],
      [1, 2, 3],
      [7, 8, 9],
    ].map((values) => device.from(f64, values));
    await fortran(GLOBAL, { file: "a.F90" }).routine("run").run(device, { n: 3, y, f_a, f_p_w });
    assert.deepEqual([...(await device.queue.read(f_a))], [2, 4, 6]);
    // What a kernel is given by value stays as it was: 10.
    assert.deepEqual([...(await device.queue.read(y))], [2 + 11 + 8 + 10, 4 + 12 + 8, 6 + 13 + 8]);
    await device.close();
  });

  const REFUSED: Readonly<Record<string, readonly [string, string, RegExp]>> = {
    "that iterations leave": ["", `${loop("p%g = x(i)")}\ny(1) = p%g`, /p_g: the value that iterations leave in it is read after the loop/],
    "that calls in iterations leave": [
      "",
      `${loop("call put(p, x(i), 1)")}\ny(1) = scaled(p, 1d0)`,
      /p_g: the value that iterations leave in it/,
    ],
    "that are sums": [
      "",
      `p%g = 0\n${loop("p%g = p%g + x(i)")}\ny = p%g`,
      /p_g: the value that iterations leave in it is read after the loop/,
    ],
    "that are pointed at": ["type(par), pointer :: t", `t => p\n${loop("y(i) = 1")}`, /t =>: only pointers to arrays are supported/],
    "that are kept": ["type(par), save :: t", loop("y(i) = t%g"), /t%g: initial values are supported/],
    "beside variables that calls would take for components": [
      "real(8) :: q_g",
      `q_g = 1\n${loop("y(i) = scaled(q, x(i)) + q_g")}`,
      /q_g: a variable has the name of the component/,
    ],
    "beside variables that calls of the host would take for components": [
      "real(8) :: q_g",
      `q_g = 1\ncall put(q, q_g, 2)\n${loop("y(i) = q_g")}`,
      /q_g: a variable has the name of the component/,
    ],
    "by value, assigned": ["", `call mine(p)\n${loop("y(i) = 1")}`, /p: o is passed by value, and assigned/],
    "that begin anew in a kernel": ["", loop("call reset(p)"), /p: o has initial values from its type/],
  };
  const MORE = `${SCALED}\n${SET}
subroutine mine(o)\ntype(par), value :: o\no%g = 1\nend subroutine
subroutine reset(o)\ntype(par), intent(out) :: o\no%n = 1\nend subroutine`;
  for (const [what, [declarations, statements, message]] of Object.entries(REFUSED))
    it(`${what} are refused`, () => {
      const text = `module m\n${TYPES}\ncontains\n${sub(`${declarations}\n${statements}`, MORE)("s")}\nend module`;
      const code = fortran(text, { file: "a.F90", partial: true });
      assert.match(code.problems.map(({ construct, why }) => `${construct}: ${why}`).join("\n"), message);
    });
});
