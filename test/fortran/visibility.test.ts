/* Which names a routine sees, by `use`, its host, `import`, submodules, and what modules keep private: gfortran's bits, or a refusal. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, FortranError, portSources } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";
import { needsGfortran } from "./gfortran.js";
import { asPort, byGfortran, byIsoform, compareModules } from "./visible-values.js";

const MODULES = `
module a
  implicit none
  private
  real(8), parameter :: dx = 1.0d0
  real(8) :: hidden = 100
  integer, public, parameter :: na = 3
  integer, parameter, public :: wp = kind(1.0d0)
  public :: twice, par
  type par
    real(8) :: g = 2
  end type
contains
  real(8) function twice(v)
    real(8), intent(in) :: v
    twice = helper(v)
  end function
  real(8) function helper(v)
    real(8), intent(in) :: v
    helper = 2*v + hidden
  end function
end module
module b
  implicit none
  real(8), parameter :: dx = 0.25d0
  real(8), protected :: kept = 9
contains
  real(8) function helper(v)
    real(8), intent(in) :: v
    helper = -v
  end function
end module
module c
  implicit none
  integer, parameter, private :: w = 7
  real(8), parameter :: zz = 3.0d0
  type, private :: par
    real(8) :: g = 50
  end type
end module
module own_c
  implicit none
  real(8), parameter :: c_rk = 7
  integer, parameter :: int640 = 5
end module
module d
  implicit none
  integer, parameter :: w = 2
  real(8), parameter :: yy = 5.0d0
end module
module e
  use a
  use d, only: w, ee => yy
  implicit none
  private :: na
  integer, parameter :: own = 11
end module
module f
  use b, only: dx
  use d
  implicit none
  private
  public dx, yy
end module
module g
  use e, only: rk => wp
  use, intrinsic :: iso_fortran_env, only: sp => real32
  implicit none
  real(8), private :: helper = 4
end module
module h
  use g, only: hk => rk, hs => sp
  implicit none
end module
module p
  implicit none
  real(8), private :: secret = 6
  real(8) :: open = 1
  interface
    module subroutine fill(n, x, y)
      integer, intent(in) :: n
      real(8) :: x(n), y(n)
    end subroutine
    module function plus(v) result(r)
      real(8), intent(in) :: v
      real(8) :: r
    end function
  end interface
contains
  subroutine unused()
  end subroutine
end module
submodule (p) q
  implicit none
  real(8) :: open = 20
  real(8), parameter :: part = 0.5d0
contains
  module subroutine fill(n, x, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n)
    integer :: i
    !$acc parallel loop
    do i = 1, n
      y(i) = plus(x(i)) + secret + open
    end do
  end subroutine
end submodule
submodule (p:q) r
  implicit none
contains
  module function plus(v) result(r)
    real(8), intent(in) :: v
    real(8) :: r
    r = v + part
  end function
end submodule
`;

/** `use` lines, what element i becomes, and what else the routine holds: declarations, then procedures. */
const CASES: Record<string, [uses: string, value: string, declarations?: string, contains?: string]> = {
  "a constant that is private elsewhere": ["use a\nuse b", "x(i)*dx"],
  "by the other order": ["use b\nuse a", "x(i)*dx + na"],
  "private by an attribute": ["use c\nuse d", "x(i)*w"],
  "names that change places": ["use d, zz => yy\nuse c, vv => zz", "x(i)*zz + vv"],
  "names that change places, by the other order": ["use c, vv => zz\nuse d, zz => yy", "x(i)*zz + vv"],
  "one thing by two ways": ["use b\nuse f", "x(i)*dx + yy"],
  "a module used twice": ["use d, only: w\nuse d, only: y2 => yy", "x(i)*w + y2"],
  "a name and another name": ["use d, only: yy, y2 => yy", "x(i)*yy + y2"],
  "all of a module, and a name renamed": ["use d, only: w\nuse d, y2 => yy", "x(i)*w + y2"],
  "what a module uses": ["use e", "x(i)*w + own + ee"],
  "what is not among `only`": ["use d, only: yy", "x(i)*w + yy", "integer, parameter :: w = 9"],
  "a variable that is protected": ["use b", "x(i) + kept"],
  "a name like one of an intrinsic module": [
    "use own_c\nuse, intrinsic :: iso_c_binding\nuse, intrinsic :: iso_fortran_env",
    "x(i)*c_rk + real(int640, c_double)",
  ],
  "procedures that call private ones": ["use a, only: twice", "twice(x(i))"],
  "beside public ones of the same name": ["use a\nuse b, only: helper", "twice(x(i)) + helper(x(i))"],
  "procedures by other names": ["use a, only: t => twice\nuse b, only: twice => helper", "t(x(i)) + twice(x(i))"],
  types: ["use a\nuse c", "x(i)*o%g", "type(par) :: o"],
  "types by other names": ["use a, only: other => par", "x(i)*o%g", "type(other) :: o"],
  "kinds by other names": ["use e, only: rk => wp", "x(i)*0.1_rk"],
  "kinds through three modules": ["use h", "x(i)*0.1_hk + 0.1_hs"],
  "a procedure of one's own": [
    "use b, only: dx",
    "inner(x(i))",
    "real(8) :: s = 3",
    "real(8) function inner(v)\nreal(8), intent(in) :: v\nreal(8) :: dx\ndx = 2\ninner = v*dx + s\nend function",
  ],
  "what the host sees": [
    "use c",
    "inner(x(i))",
    "",
    "real(8) function inner(v)\nuse d, only: zz => yy\nreal(8), intent(in) :: v\ninner = v*zz\nend function",
  ],
  "what the procedure's own `use` leaves to the host": [
    "use c",
    "inner(x(i))",
    "",
    "real(8) function inner(v)\nuse d, only: yy\nreal(8), intent(in) :: v\ninner = v*zz + yy\nend function",
  ],
  "a function outside of modules beside one of a module": ["use c", "helper(x(i))", "real(8), external :: helper"],
};
const NAMES = Object.keys(CASES);
const ROUTINES = 8;
const PORTS = ["cpu", "openmp", "openmp-target", "hip"] as const;

const routine = ([uses, value, declarations = "", contains = ""]: (typeof CASES)[string], name: string): string => `
subroutine ${name}(n, x, y)
  ${uses}
  implicit none
  integer, intent(in) :: n
  real(8) :: x(n), y(n)
  integer :: i
  ${declarations}
  !$acc parallel loop
  do i = 1, n
    y(i) = ${value}
  end do
  ${contains && `contains\n${contains}`}
end subroutine`;

const EXTERNAL = "\nreal(8) function helper(v)\n  real(8), intent(in) :: v\n  helper = 1000*v\nend function\n";
const refused = (text: string): string => {
  try {
    fortran(text, { file: "t.f90" });
  } catch (error) {
    if (error instanceof FortranError) return error.message;
    throw error;
  }
  return "";
};

describe("names that a routine sees", () => {
  const texts = NAMES.map((name, n) => routine(CASES[name], `s${n}`));
  const all = [...NAMES.map((_, n) => `s${n}`), "fill"];

  it("have gfortran's values", needsGfortran, async () => {
    const text = MODULES + EXTERNAL + texts.join("\n");
    const [expected, found] = [byGfortran(text, all), await byIsoform(text, all)];
    all.forEach((name, n) => assert.deepEqual(found[n], expected[n], NAMES[n] ?? name));
    for (const port of ["cpu", "openmp", "openmp-target"] as const) assert.deepEqual(asPort(text, all, port), expected, port);
  });

  it("have gfortran's values in random modules", needsGfortran, async () => {
    for (let seed = 1; seed <= 12; seed++) await compareModules(seed, ROUTINES, PORTS[seed % PORTS.length]);
  });

  it("are refused where two modules have them, if they are used", () => {
    const both = (value: string): string => MODULES + routine(["use b\nuse e, only: own\nuse g2", value], "s");
    const more =
      "\nmodule g2\nreal(8), parameter :: dx = 8\ncontains\nreal(8) function helper(v)\nreal(8), intent(in) :: v\nhelper = v\nend function\nend module\n";
    assert.equal(refused(more + both("x(i) + own")), "");
    assert.match(
      refused(more + both("x(i)*dx")),
      /t\.f90:\d+:\d+: dx: the modules b and g2 both define it \(list the one that you mean after `only`/,
    );
    assert.match(refused(more + both("helper(x(i))")), /helper: the modules b and g2 both define it/);
  });

  it("are refused where they are private or left out", () => {
    assert.match(refused(MODULES + routine(["use a", "x(i)*dx"], "s")), /dx: it is unknown here/);
    assert.match(refused(MODULES + routine(["use d, only: yy", "x(i)*w"], "s")), /w: it is unknown here/);
    assert.match(refused(MODULES + routine(["use d, y2 => yy", "x(i)*yy"], "s")), /yy: it is unknown here/);
    assert.match(refused(MODULES + routine(["use e", "x(i)*na"], "s")), /na: it is unknown here/);
    assert.match(refused(MODULES + routine(["use f", "x(i)*w"], "s")), /w: it is unknown here/);
    assert.match(refused(MODULES + routine(["use p", "x(i)*secret"], "s")), /secret: it is unknown here/);
    assert.match(
      refused(MODULES + routine(["use a, only: twice", "x(i)", "type(par) :: o"], "s").replace("= x(i)", "= o%g")),
      /o_g: it is unknown/,
    );
  });

  it("are not those of the host that `import` leaves out", () => {
    const inner = (line: string): string => `real(8) function inner(v)\n${line}\nreal(8), intent(in) :: v\ninner = v*zz\nend function`;
    const text = (line: string): string => MODULES + routine(["use c", "inner(x(i))", "", inner(line)], "s");
    for (const line of ["import, all", "import, only: zz", "import zz"]) assert.equal(refused(text(line)), "", line);
    for (const line of ["import, none", "import, only: i"]) assert.match(refused(text(line)), /zz: it is unknown here/, line);
  });

  it("are found through many modules that use each other's", () => {
    let text = "module m0a\ninteger, parameter :: z = 1\nend module\nmodule m0b\nend module\n";
    for (let n = 1; n < 40; n++) for (const c of ["a", "b"]) text += `module m${n}${c}\nuse m${n - 1}a\nuse m${n - 1}b\nend module\n`;
    assert.equal(refused(text + routine(["use m39a", "x(i)*z"], "s")), "");
  });

  it("of a module that is not given are not those of the host", () => {
    const inner = "real(8) function inner(v)\nuse elsewhere, only: zz\nreal(8), intent(in) :: v\ninner = v*zz\nend function";
    assert.match(refused(MODULES + routine(["use c", "inner(x(i))", "", inner], "s")), /zz: it is unknown here/);
  });

  it("may be those of one module that says so by the module's name", () => {
    const through = "\nmodule t\nuse b\nuse d\nprivate\npublic :: d\nprivate w\nend module\n";
    assert.match(refused(MODULES + through + routine(["use t", "x(i)*w"], "s")), /w: it is unknown here/);
    assert.equal(refused(MODULES + through + routine(["use t", "x(i)*yy"], "s")), "");
    assert.match(refused(MODULES + through + routine(["use t", "x(i)*dx"], "s")), /dx: it is unknown here/);
  });

  it("that are generic are those of one procedure, or refused", () => {
    const generic = (specifics: string): string =>
      `\nmodule t\ninterface scaled\nmodule procedure ${specifics}\nend interface\nprivate :: one, two\ncontains\n` +
      "real(8) function one(v)\nreal(8), intent(in) :: v\none = 3*v\nend function\nreal(4) function two(v)\nreal(4), intent(in) :: v\ntwo = v\nend function\nend module\n";
    assert.equal(refused(generic("one") + routine(["use t, only: s3 => scaled", "s3(x(i))"], "s")), "");
    assert.equal(refused(generic("one, two") + routine(["use t", "scaled(x(i))"], "s")), "");
    const empty = "\nmodule t\ninterface scaled\nend interface\nend module\n";
    assert.match(refused(empty + routine(["use t", "scaled(x(i))"], "s")), /scaled: there is no function or array of this name/);
    assert.match(
      refused(generic("one, two") + routine(["use t", "scaled(i)"], "s")),
      /scaled: the types of the arguments decide which procedure is meant.*one, two/,
    );
  });

  it("are those of one variable, whatever a procedure calls it", async () => {
    const text = `module m
integer :: n = 1
real(8) :: r = 2
contains
subroutine inc()
n = n + 1
r = r*10
end subroutine
end module
subroutine s(y, k)
use m, nn => n, n => r
real(8) :: y(4)
integer, intent(in) :: k
if (k > 0) call inc()
y(1) = nn
y(2) = n
nn = 7
if (k > 1) call inc()
y(3) = nn
y(4) = n
end subroutine
`;
    const device = await open("js");
    try {
      const y = device.array(f64, 4);
      await fortran(text, { file: "t.f90" }).routine("s").run(device, { y, k: 2 });
      assert.deepEqual([...(await device.queue.read(y))], [2, 20, 8, 200]);
    } finally {
      await device.close();
    }
  });

  it("are not needed for the arrays of what a routine calls", async () => {
    const text =
      "module m\nprivate\nreal(8) :: w(3)\npublic put\ncontains\nsubroutine put(n)\ninteger, intent(in) :: n\ninteger :: i\n!$acc parallel loop\ndo i = 1, n\nw(i) = i\nend do\n" +
      "end subroutine\nend module\nsubroutine s(n)\nuse m\ninteger, intent(in) :: n\ncall put(n)\nend subroutine\n";
    const code = fortran(text, { file: "t.f90" });
    const device = await open("js");
    try {
      const w = code.array(device, "s", "w");
      await code.routine("s").run(device, { n: 3, w });
      assert.deepEqual([...(await device.queue.read(w))], [1, 2, 3]);
    } finally {
      await device.close();
    }
  });

  it("have the right procedures in ports", () => {
    const text =
      "module a\ncontains\nsubroutine put(t)\nreal(8), intent(out) :: t\ncall set(t)\nend subroutine\nprivate_set\nend module\n".replace(
        "private_set",
        "subroutine set(t)\nreal(8), intent(out) :: t\nt = 1\nend subroutine",
      ) +
      "module b\ncontains\nsubroutine set(t)\nreal(8), intent(inout) :: t\nt = t + 1\nend subroutine\nend module\n" +
      "subroutine s(n, x)\nuse a, only: put\ninteger, intent(in) :: n\nreal(8) :: x(n), t\ninteger :: i\n!$acc parallel loop\ndo i = 1, n\ncall put(t)\nx(i) = t\nend do\nend subroutine\n";
    const [{ text: ported, loops }] = portSources([{ file: "t.f90", text }], { targets: ["openmp-target"] });
    // What each iteration sets first is not carried, though another module's `set` reads it.
    assert.deepEqual(loops[0].carried, []);
    assert.equal(ported.match(/declare target/g)?.length, 2);
  });

  it("keep submodules in ports", () => {
    const [{ text }] = portSources([{ file: "t.f90", text: MODULES }], { targets: ["openmp"] });
    assert.match(text, /submodule \(p\) q\n/);
    assert.match(text, /submodule \(p:q\) r\n[^]*end submodule r/);
    assert.match(text, /!\$omp parallel do default\(firstprivate\) shared\(x,y\)/);
  });

  it("of submodules without their module, or without a heading, are refused", () => {
    assert.match(
      refused("submodule (gone) s\nend submodule\n"),
      /submodule s: the module gone or its parent is in none of the files given/,
    );
    const bare = MODULES.replace(
      "module function plus(v) result(r)\n    real(8), intent(in) :: v\n    real(8) :: r\n    r =",
      "module procedure plus\n    r =",
    );
    assert.match(
      refused(bare.replace("r = v + part\n  end function", "r = v + part\n  end procedure")),
      /module procedure: arguments declared only in an interface/,
    );
  });
});
