/* `atomic` and `critical` in parallel loops: many iterations update one element, with gfortran's results, or are refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { compareWithGfortran, moduleOf, needsGfortran } from "./gfortran.js";

const N = 3000;
const inputs = {
  x: Float64Array.from({ length: N }, (_, n) => (n * 37) % 101),
  k: Int32Array.from({ length: N }, (_, n) => (n * 7) % 5),
};

const loop = (name: string, body: string, { directive = "!$acc parallel loop", declarations = "", behind = "" } = {}): string => `
  subroutine ${name}(n, x, k, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), s
    integer :: k(n), i, j, h(0:9)
    ${declarations}
    h = 0
    s = 0
    ${directive}
    do i = 1, n
      ${body.trim().split("\n").join("\n      ")}
    end do
    ${behind}
  end subroutine`;

const COUNTED = { behind: "do i = 0, 9\n y(i+1) = h(i)\n end do" };

const SAME: Record<string, string> = {
  sums: loop("sums", "!$acc atomic update\ny(k(i) + 1) = y(k(i) + 1) + x(i)"),
  without_word: loop("without_word", "!$acc atomic\ny(k(i) + 1) = x(i) + y(k(i) + 1)\n!$acc end atomic"),
  differences: loop("differences", "!$acc atomic update\ny(k(i) + 1) = y(k(i) + 1) - x(i)"),
  counts: loop("counts", "!$acc atomic update\nh(k(i)) = h(k(i)) + 1", COUNTED),
  greatest: loop("greatest", "!$acc atomic update\ny(k(i) + 1) = max(y(k(i) + 1), x(i))"),
  least: loop("least", "!$omp atomic\ny(k(i) + 1) = min(-x(i), y(k(i) + 1))", { directive: "!$omp parallel do" }),
  two_arrays: loop("two_arrays", "!$acc atomic\nh(k(i)) = h(k(i)) + 1\n!$acc atomic\ny(k(i) + 20) = y(k(i) + 20) + 2*x(i)", COUNTED),
  in_a_loop: loop("in_a_loop", "do j = 0, 2\n!$acc atomic update\nh(k(i) + j) = h(k(i) + j) + j\nend do", COUNTED),
  of_scalars: loop("of_scalars", "!$acc atomic update\ns = s + x(i)", { behind: "y(1) = s" }),
  critical: loop("critical", "!$omp critical\ns = s + x(i)\n!$omp end critical", { directive: "!$omp parallel do", behind: "y(1) = s" }),
  own: loop("own", "do j = 1, 3\n!$acc atomic capture\ns = y(i)\ny(i) = y(i) + j*x(i)\n!$acc end atomic\nend do"),
  products: loop("products", "do j = 1, 3\n!$acc atomic update\ny(i) = (y(i) + 1)*j\nend do"),
  flags: loop("flags", "if (x(i) > 90) then\n!$acc atomic write\ns = 1\nend if", { behind: "y(1) = s" }),
  reads: loop("reads", "!$acc atomic read\ns = x(i)\n!$acc atomic write\ny(i) = s + 1"),
  in_order: loop("in_order", "!$acc atomic capture\ns = y(k(i) + 1)\ny(k(i) + 1) = y(k(i) + 1)*0.5d0 + x(i)\n!$acc end atomic\ny(i) = s", {
    directive: "!$acc loop seq",
  }),
};

describe("atomic updates", needsGfortran, () => {
  it("count each iteration once", async () => {
    await compareWithGfortran(new Map(Object.entries(SAME)), inputs, ["js", "wasm", "native"]);
  });

  const REFUSED: Record<string, [body: string, problem: RegExp]> = {
    captures: [
      "!$acc atomic capture\ns = y(k(i)+1)\ny(k(i)+1) = y(k(i)+1) + 1\n!$acc end atomic",
      /y: iterations update elements of it that/,
    ],
    products: ["!$acc atomic\ny(k(i)+1) = y(k(i)+1)*x(i)", /y: iterations update elements of it that/],
    "sums that are read": ["!$acc atomic\ny(k(i)+1) = y(k(i)+1) + x(i)\nx(i) = y(1)", /y: iterations update elements of it that/],
    "two operations": [
      "!$acc atomic\ny(k(i)+1) = y(k(i)+1) + x(i)\n!$acc atomic\ny(k(i)+1) = max(y(k(i)+1), x(i))",
      /y: iterations update elements of it that/,
    ],
    "scalars that count": ["!$acc atomic capture\ns = s + 1\nx(i) = s\n!$acc end atomic", /atomic capture: s: iterations share it/],
    "critical sections": [
      "!$omp critical\nif (x(i) > s) then\ns = x(i)\nj = i\nend if\n!$omp end critical",
      /critical: \w: iterations share/,
    ],
  };
  for (const [name, [body, problem]] of Object.entries(REFUSED))
    it(`are refused: ${name}`, () => {
      assert.throws(() => fortran(moduleOf([loop("a", body)]), { file: "a.F90" }), problem);
    });

  it("leave no critical section to ports", () => {
    const text = moduleOf([loop("a", "!$omp critical\ny(k(i)+1) = x(i)\n!$omp end critical", { directive: "!$omp parallel do" })]);
    assert.throws(() => portSources([{ file: "a.F90", text }], { targets: ["openmp"] }), /critical: iterations wait for each other/);
  });
});
