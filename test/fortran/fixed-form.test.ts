/* Programs in fixed form, and variables without declarations: gfortran's bits, also of ports, or a refusal at its place. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fortran, FortranError, portSources } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";
import { needsGfortran } from "./gfortran.js";

const N = 6;
const x = Float64Array.from({ length: N }, (_, n) => n - 1.5);
const k = Int32Array.from({ length: N }, (_, n) => (n * 3) % 4);

/** What gfortran's code of a file gives for `y`; all of them are subroutines `s(n, x, k, y)`. */
function byGfortran(file: string, text: string): number[] {
  const folder = mkdtempSync(join(tmpdir(), "isoform-fixed-"));
  try {
    writeFileSync(join(folder, file), text);
    writeFileSync(
      join(folder, "main.f90"),
      `program run\nreal(8) :: x(${N}), y(${N})\ninteger :: k(${N})\nx = [${[...x].map((n) => `${n}d0`).join()}]\nk = [${k.join()}]\ny = 0
call s(${N}, x, k, y)\nopen(11, file='out', access='stream', form='unformatted')\nwrite(11) y\nend program`,
    );
    const flags = ["-O0", "-ffp-contract=off", "-cpp", "-w", "-fd-lines-as-comments"];
    execFileSync("gfortran", [...flags, file, "main.f90", "-o", "run"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    execFileSync(join(folder, "run"), [], { cwd: folder });
    const bytes = readFileSync(join(folder, "out"));
    return [...new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + N * 8))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function byIsoform(file: string, text: string): Promise<number[]> {
  const device = await open("js");
  device.precision = "strict";
  const args = { n: N, x: device.from(f64, x), k: device.from(i32, k), y: device.array(f64, N) };
  await fortran(text, { file }).routine("s").run(device, args);
  const found = [...(await device.queue.read(args.y))];
  await device.close();
  return found;
}

const FIXED: Readonly<Record<string, string>> = {
  lines: `c     A comment, it's one
C     Another
* And another
! And another
d     y(1) = 5
      subroutine s(n, x,
     &             k, y) ! a comment
      implicit none
      integer n, k(n), i
      real*8 x(n), y(n),
c     between parts

     1       a

#ifdef NEVER
      wrong here
#endif
c$omp parallel do private(a)
      do 10 i = 1, n
        a = x(i)                                                        SEQ00001
     +    *2 + ! half a line
     0
        if (k(i) .gt. 2) goto 10
   10 continue
      end
`.replace("     0\n        if (k(i) .gt. 2) goto 10\n", "     2    k(i)\n        y(i) = a\n"),
  directives: `      SUBROUTINE S(N, X, K, Y)
      INTEGER N, K(N), I
      REAL*8 X(N), Y(N), A
!$ACC PARALLEL LOOP
!$ACC& PRIVATE(A)
      DO I = 1, N
     0  A = X(I)
        IF (A .LT. 0) THEN
          Y(I) = A
        ELSE IF (K(I) .EQ. 1) THEN
          Y(I) = 2*A
        ENDIF
      ENDDO
      END
`,
  tabs: "\tsubroutine s(n, x, k, y)\n\tinteger n, k(n)\n\treal*8 x(n), y(n)\n!$omp parallel do\n\tdo 20 i = 1, n\n20\ty(i) = x(i)\n\t1 + k(i)\n\tend\n",
  implicit: `      subroutine s(n, x, k, y)
      implicit real*8 (a-h, o-z), integer (i-n)
      dimension x(n), k(n), y(n), v(2)
      parameter (half = 0.5d0)
      data v /1d0, 2d0/
      do 10 i = 1, n
      t = x(i)*half + f(k(i))
      j = t
   10 y(i) = t + j + v(1 + mod(i, 2))
      end
      double precision function f(m)
      implicit real*8 (a-h, o-z)
      f = m*3
      end
`,
  complex: `      subroutine s(n, x, k, y)
      implicit double precision (a-b, d-h, o-z), complex*16 (c)
      dimension x(n), k(n), y(n), c2(2)
!$omp parallel do private(c, c2)
      do i = 1, n
      c = dcmplx(x(i), 2d0)
      c2(1) = c*(0d0, 1d0)
      c2(2) = c2(1) + c
      y(i) = dble(c2(2)) + dimag(c2(1))
      end do
      end
`,
};

const FREE: Readonly<Record<string, string>> = {
  integers_and_reals: `module m
real(8) :: w = 2
end module
subroutine s(n, x, k, y)
use m
real(8) x(n), y(n)
dimension k(n)
total = 0
!$acc parallel loop reduction(+:total)
do i = 1, n
  a = x(i)
  j = a*2
  total = total + j
  y(i) = a + j + w
end do
y(1) = total
call inner
contains
subroutine inner
  total = total + 1
  b = total/3
  y(2) = b
end subroutine
end subroutine`,
};

describe("fixed form", () => {
  for (const [name, text] of Object.entries(FIXED))
    it(`of ${name} has gfortran's bits, also as ports in free form`, needsGfortran, async () => {
      const expected = byGfortran("a.F", text);
      assert.deepEqual(await byIsoform("a.F", text), expected);
      for (const target of ["cpu", "openmp"] as const) {
        const [port] = portSources([{ file: "a.F", text }], { targets: [target] });
        assert.equal(port.name, "a.F90");
        assert.deepEqual(byGfortran(port.name, port.text), expected, target);
      }
    });

  it("continues texts from column 72, and has them in ports", () => {
    const text = `      subroutine s\n      write(*,*) 'it''s${" ".repeat(40)}a\n     &b ! c'\n      end\n`;
    const [port] = portSources([{ file: "a.f", text }], { targets: ["cpu"] });
    assert.ok(port.text.includes(`"it's${" ".repeat(40)}a${" ".repeat(8)}b ! c"`));
  });

  const problemOf = (make: () => unknown): string => {
    try {
      make();
    } catch (error) {
      if (error instanceof FortranError) return error.message;
      throw error;
    }
    return "";
  };

  it("is refused where a statement goes on behind column 72, or continues nothing", () => {
    const long = `      subroutine s(x)\n      real x(9)\n      x(1) = ${" ".repeat(58)} 1 + 2\n      end\n`;
    assert.match(
      problemOf(() => fortran(long, { file: "a.f" })),
      /^a\.f:3:73: 1 \+ 2: it stands after column 72.* \(break the line\)/m,
    );
    assert.match(
      problemOf(() => fortran("     & subroutine s\n      end\n", { file: "a.f" })),
      /^a\.f:1:6: &: continues no statement/,
    );
  });

  const LOOP = "!$acc parallel loop\ndo i = 1, 5\n  y(i) = q\nend do\nend subroutine";
  it("without declarations refuses what nothing assigns, and what other modules may define", () => {
    const text = (head: string, before = ""): string => `subroutine s(y)\n${head}\nreal y(5)\n${before}\n${LOOP}`;
    assert.match(
      problemOf(() => fortran(text(""), { file: "a.f90" })),
      /^a\.f90:7:10: q: it is unknown here/,
    );
    assert.equal(
      problemOf(() => fortran(text("", "q = 1"), { file: "a.f90" })),
      "",
    );
    assert.match(
      problemOf(() => fortran(text("use other", "q = 1"), { file: "a.f90" })),
      /q: it is unknown here/,
    );
    assert.match(
      problemOf(() => fortran(text("implicit none\ninteger i", "q = 1"), { file: "a.f90" })),
      /q: it is unknown here/,
    );
    assert.match(
      problemOf(() => fortran(text("implicit wrong (q)", "q = 1"), { file: "a.f90" })),
      /q: it is unknown here/,
    );
    assert.match(
      problemOf(() => fortran(text("common /c/ q(n)", "q(1) = 1"), { file: "a.f90" })),
      /common :: q: its common block is laid out in different ways, or its bounds or values are not constants/,
    );
  });

  for (const [name, text] of Object.entries(FREE))
    it(`is not needed for variables without declarations: ${name.replaceAll("_", " ")}`, needsGfortran, async () => {
      const expected = byGfortran("a.f90", text);
      assert.deepEqual(await byIsoform("a.f90", text), expected);
      const [port] = portSources([{ file: "a.f90", text }], { targets: ["openmp"] });
      assert.deepEqual(byGfortran(port.name, port.text), expected);
    });
});
