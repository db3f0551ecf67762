/* Scalars that iterations assign: they come back as clauses and the standards say, in runs, emitted text and ports, or are refused with a remedy. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, i32, open, type Device } from "../../src/index.js";

let devices: Device[] = [];
before(async () => {
  devices = await Promise.all(["js", "wasm"].map((name) => open(name)));
  for (const device of devices) device.precision = "strict";
});
after(() => Promise.all(devices.map((device) => device.close())));

const X = Float64Array.of(1, 2.5, 4, 5.5, 7, 8.5, 10, 11.5);
const K = Int32Array.of(1, 2, 6, 4, 5, 6, 2, 8);

/** A routine over eight elements; `flag` and `total` are variables of a module. */
const source = (directive: string, body: string, behind = ""): string => `module m
  implicit none
  integer :: flag = 0
  real(8) :: total = 100
contains
  subroutine mark(is, to)
    logical, intent(in) :: is
    integer, intent(inout) :: to
    if (is) to = 7
  end subroutine
  subroutine add(v)
    real(8), intent(in) :: v
    total = total + v
  end subroutine
  real(8) function added(v)
    real(8), intent(in) :: v
    call add(v)
    added = v
  end function
  subroutine s(n, x, k, bad, r, q)
    integer, intent(in) :: n
    real(8) :: x(n)
    integer :: k(n), i, own
    integer, intent(inout) :: bad
    real(8), intent(inout) :: r
    logical, intent(inout) :: q
    own = -1
    ${directive}
    ${directive.includes("concurrent") ? "" : "do i = 1, n"}
      ${body.split("\n").join("\n      ")}
    end do
    ${behind}
  end subroutine
end module
`;

const BEFORE = { bad: 0, r: 1e30, q: false };

async function results(text: string): Promise<Record<string, number | boolean>[]> {
  const code = fortran(text, { file: "a.f90" });
  return Promise.all(
    devices.map((device) => code.routine("s").run(device, { n: 8, x: device.from(f64, X), k: device.from(i32, K), ...BEFORE })),
  ) as Promise<Record<string, number | boolean>[]>;
}

const SIX = "if (k(i) == 6) bad = 1";

/** A directive, what the loop does, what is left of the scalars, and statements after the loop. */
const KEPT: Record<string, [directive: string, body: string, left: Record<string, number | boolean>, behind?: string]> = {
  copy: ["!$acc parallel loop copy(bad)", SIX, { bad: 1 }],
  copyout: ["!$acc parallel loop copyout(r, q)", "r = 2.5d0\nq = .true.", { r: 2.5, q: true }],
  "copy of an array beside it": ["!$acc parallel loop copy(x(1:n), bad)", SIX, { bad: 1 }],
  "data around": ["!$acc data copy(bad)\n!$acc parallel loop", SIX, { bad: 1 }, "!$acc end data"],
  "parallel around": ["!$acc parallel copy(bad)\n!$acc loop", SIX, { bad: 1 }, "!$acc end parallel"],
  "map(tofrom)": [
    "!$omp target teams distribute parallel do map(tofrom: bad, q)",
    `${SIX}\nif (k(i) == 5) q = .true.`,
    { bad: 1, q: true },
  ],
  "map(from)": ["!$omp target teams distribute parallel do map(from: bad)", "bad = 7", { bad: 7 }],
  defaultmap: ["!$omp target parallel do defaultmap(tofrom: scalar)", SIX, { bad: 1 }],
  "a target around": ["!$omp target map(bad)\n!$omp teams distribute parallel do", SIX, { bad: 1 }, "!$omp end target"],
  shared: ["!$omp parallel do shared(bad)", SIX, { bad: 1 }],
  "OpenMP's default": ["!$omp parallel do", SIX, { bad: 1 }],
  "independent kernels": ["!$acc kernels loop independent", `${SIX}\nr = x(i)`, { bad: 1, r: 11.5 }],
  kernels: ["!$acc kernels loop", "if (i == n) bad = k(i)\nr = x(i)", { bad: 8, r: 11.5 }],
  "do concurrent": ["do concurrent (i = 1:n, k(i) == 4)", "bad = i\nr = x(i)\nq = .true.", { bad: 4, r: 5.5, q: true }],
  lastprivate: ["!$omp parallel do lastprivate(r)", "r = x(i)", { r: 11.5 }],
  "one iteration of many": ["!$acc parallel loop copy(bad, r)", "if (k(i) == 8) bad = i\nif (i == 2) r = x(i)", { bad: 8, r: 2.5 }],
  "none at all": ["!$acc parallel loop copy(bad)", "if (k(i) == 9) bad = 1", {}],
  "NaN and -0": ["!$acc parallel loop copy(r)", "if (k(i) == 6) r = -0d0", { r: -0 }],
  "values that agree in a run": ["!$omp parallel do", "if (k(i) == 6) bad = k(i) + 1", { bad: 7 }],
  "what a procedure assigns": ["!$acc parallel loop copy(bad)", "call mark(k(i) == 6, bad)", { bad: 7 }],
  "a module's": ["!$acc parallel loop copy(flag, total)", "if (k(i) == 6) flag = 3\nif (i == 1) total = x(i)", { flag: 3, total: 1 }],
  "a local": ["!$acc parallel loop copy(own)", "if (k(i) == 6) own = 5", { bad: 5 }, "bad = own"],
  "atomic write": ["!$acc parallel loop copy(bad)", "if (k(i) == 6) then\n!$acc atomic write\nbad = 1\nend if", { bad: 1 }],
  critical: ["!$omp parallel do", "if (k(i) == 6) then\n!$omp critical\nbad = 1\n!$omp end critical\nend if", { bad: 1 }],
  "a conditional minimum": ["!$acc parallel loop reduction(min: r)", "if (k(i) == 2 .and. x(i) < r) r = x(i)", { r: 2.5 }],
  "a conditional maximum": ["!$omp parallel do reduction(max: bad)", "if (k(i) > bad .and. x(i) < 8) bad = k(i)", { bad: 6 }],
  "what is private": ["!$acc parallel loop", `${SIX}\nr = x(i)`, {}],
  "a private one that a clause names": ["!$omp parallel do private(bad)", "bad = k(i)\nx(i) = bad", {}],
  "one that a procedure may assign in the next loop": [
    "!$acc kernels loop independent",
    "if (i == 3) bad = k(i)\nif (i == 4) own = k(i)",
    { bad: 4 },
    "!$acc parallel loop copy(own)\ndo i = 1, n\ncall mark(k(i) == 9, own)\nend do\nbad = own",
  ],
  "one that is private in the next loop": [
    "!$omp parallel do shared(bad)",
    SIX,
    { bad: 1 },
    "!$acc parallel loop private(bad)\ndo i = 1, n\nbad = k(i)\nend do",
  ],
};

/** A directive, what the loop does, and why that is refused. */
const REFUSED: Record<string, [directive: string, body: string, problem: RegExp]> = {
  "copy of what all assign": [
    "!$acc parallel loop copy(r)",
    "r = x(i)",
    /r: the value that iterations leave in it .* \(name it in a reduction clause, or/,
  ],
  "shared by threads": [
    "!$omp parallel do",
    "r = x(i)",
    /r: the value that iterations leave .* \(name it in a reduction clause, in lastprivate, or/,
  ],
  copyin: ["!$acc parallel loop copyin(bad)", SIX, /bad: iterations assign it, its clause leaves that value .* \(write copy\(/],
  "map(to)": ["!$omp target parallel do map(to: bad)", SIX, /bad: iterations assign it, its clause leaves that value .* \(write copy\(/],
  "what a procedure reads and assigns": ["!$omp parallel do", "if (i == 3) call add(x(i))", /total: the value that iterations leave in it/],
  "what a function's procedure reads and assigns": [
    "!$omp parallel do",
    "if (i == 3) x(i) = added(x(i))",
    /total: the value that iterations leave in it/,
  ],
  "open kernels, in other branches": [
    "!$acc kernels loop",
    "if (i == 3) then\nx(i) = 1\nelse\nr = x(i)\nend if",
    /r: the value that iterations leave in it/,
  ],
  "open kernels": ["!$acc kernels loop", "if (x(i) > 3) r = x(i)", /r: the value that iterations leave in it/],
};

describe("scalars that iterations assign", () => {
  for (const [name, [directive, body, left, behind]] of Object.entries(KEPT))
    it(`come back, or stay: ${name}`, async () => {
      const expected = { ...BEFORE, ...left };
      for (const found of await results(source(directive, body, behind))) {
        const named = Object.fromEntries(Object.keys(expected).map((key) => [key, found[key]]));
        assert.deepEqual(named, expected);
      }
    });

  for (const [name, [directive, body, problem]] of Object.entries(REFUSED))
    it(`are refused: ${name}`, () => {
      assert.throws(() => fortran(source(directive, body), { file: "a.f90" }), problem);
    });

  it("are refused in a run where iterations do not agree", async () => {
    const text = source("!$acc parallel loop copy(bad)", "if (k(i) == 6) bad = i");
    await assert.rejects(results(text), /s: 2 iterations assign different values to bad.*reduction\(max: bad\)/);
  });

  it("are results of emitted code", async () => {
    const code = fortran(source("!$acc parallel loop copy(bad)", SIX), { file: "a.f90" });
    for (const target of ["c", "js", "opencl", "wgsl"] as const) {
      const text = (await code.emit(target)).files.map((file) => file.text).join("\n");
      assert.match(text, /bad is the new value of bad if bad_assigned, the number of iterations that assigned it, is above 0/, target);
    }
  });

  it("are shared or lastprivate in ports to Fortran", () => {
    const ported = (target: "openmp" | "openmp-target", directive: string, body: string): string =>
      portSources([{ file: "a.f90", text: source(directive, body) }], { targets: [target] })[0].text;
    const flag = ["!$acc parallel loop copy(bad)", SIX] as const;
    assert.match(
      ported("openmp", ...flag),
      /shared\(k,bad\)\n.*\n\s+if \(k\(i\) == 6\) then\n\s+!\$omp atomic write\n\s+bad = 1\n\s+end if/,
    );
    assert.match(ported("openmp-target", ...flag), /map\(tofrom:k,bad\)\n/);
    assert.match(ported("openmp", "!$omp parallel do lastprivate(r)", "r = x(i)"), /lastprivate\(r\)/);
    assert.match(ported("openmp", "!$acc kernels loop independent", SIX), /shared\(k,bad\)/);
  });

  it("come back from kernels in C++, logical values too", () => {
    const ported = (directive: string, body: string): string =>
      portCppSources([{ file: "a.f90", text: source(directive, body) }], { targets: ["cuda"] })
        .map(({ text }) => text)
        .join("\n");
    assert.match(ported("!$acc parallel loop copy(bad)", SIX), /if \(bad_assigned_part_ > 0\) \*bad_ = bad_part_;/);
    const flag = ported("!$acc parallel loop copy(q)", "if (k(i) == 6) q = .true.");
    assert.match(flag, /if \(q_assigned_part_ > 0\) \*q_ = q_part_;/);
    assert.match(flag, /q__held = q\n.*launch_\(.*q__held\)\n\s*q = q__held/);
  });
});
