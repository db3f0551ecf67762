/* Serial loops in kernels that become axes of the range: which ones, in which place, with the results of the loops as they stand. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran, type FortranOptions } from "../../src/fortran/index.js";
import { open, type Device } from "../../src/index.js";

let devices: Device[] = [];
before(async () => {
  devices = [await open("js"), await open("wasm")];
});
after(() => Promise.all(devices.map((device) => device.close())));

const N = { nx: 5, ny: 4, nz: 6 };

/** A kernel over (i, j) whose elements walk along k, or along another one of the three. */
const text = (body: string, { behind = "", serial = "k", outer = ["j", "i"] } = {}): string => {
  const stop: Record<string, string> = { i: "nx", j: "ny", k: "nz" };
  const [a, b] = outer;
  return `
subroutine s(nx, ny, nz, m, u, v)
  integer, intent(in) :: nx, ny, nz, m
  real(8), device :: u(0:nx+1, ny, 0:nz+1), v(nx, ny, nz)
  integer :: i, j, k, l
  real(8) :: q, r, w(8)
  !$cuf kernel do(2) <<<*,*>>>
  do ${a} = 1, ${stop[a]}
    do ${b} = 1, ${stop[b]}
      do ${serial} = 1, ${stop[serial]}
        ${body.trim().split("\n").join("\n        ")}
      end do
      ${behind}
    end do
  end do
end subroutine
`;
};

const axes = (source: string, options: FortranOptions = {}): number =>
  fortran(source, { file: "a.F90", ...options }).kernels.get("s")!.lowered.trips.length;

async function results(source: string, options: FortranOptions = {}): Promise<number[][]> {
  const code = fortran(source, { file: "a.F90", ...options });
  return Promise.all(
    devices.map(async (device) => {
      const u = code.array(
        device,
        "s",
        "u",
        N,
        Float64Array.from({ length: 7 * 4 * 8 }, (_, n) => Math.sin(n)),
      );
      const v = code.array(device, "s", "v", N);
      await code.routine("s").run(device, { ...N, m: 3, u, v });
      const values = [...(await device.queue.read(v)), ...(await device.queue.read(u))];
      for (const view of [u, v]) view.free();
      return values;
    }),
  );
}

/** A statement behind the loop that keeps it from being all that an element does. */
const SERIAL = { behind: "if (m < 0) v(i, j, 1) = 0" };

const INDEPENDENT = {
  "of stencils": "v(i, j, k) = u(i, j, k+1) - u(i, j, k-1) + u(i+1, j, k)",
  "with scalars that each iteration sets": "q = u(i, j, k)\nif (q > 0) then\n  r = q\nelse\n  r = -q\nend if\nv(i, j, k) = q*r",
  "with a private array that each iteration fills": "do l = 1, m\n  w(l) = u(i, j, k) + l\nend do\nv(i, j, k) = w(1) + w(m)",
  "with a private array in one branch":
    "if (u(i, j, k) > 0) then\n  w(1) = u(i, j, k)\n  w(2) = 2*w(1)\n  v(i, j, k) = w(2)\nelse\n  v(i, j, k) = 1\nend if",
};

const CARRIED = {
  "a sum": "q = merge(0d0, q, k == 1)\nq = q + u(i, j, k)\nv(i, j, k) = q",
  "what one branch has set": "if (k == 1 .or. u(i, j, k) > 0) q = u(i, j, k)\nv(i, j, k) = q",
  "an element that was written before": "v(i, j, k) = u(i, j, k)\nif (k > 1) v(i, j, k) = v(i, j, k) + v(i, j, k-1)",
  "one place": "v(i, j, 1) = u(i, j, k)",
  "a ring": "w(mod(k, 3) + 1) = u(i, j, k)\nv(i, j, k) = w(1)",
  "a window": "if (k == 1) then\n  w(1) = 0\nend if\nv(i, j, k) = w(1)\nw(1) = u(i, j, k)",
  "the last value": "if (u(i, j, k) > 0 .or. k == 1) w(1) = u(i, j, k)\nv(i, j, k) = w(1)",
  "the sum of an array": "if (k == 1) w(2) = 0\nw(2) = w(2) + u(i, j, k)\nv(i, j, k) = w(2)",
};

describe("a serial loop in a kernel", () => {
  for (const [name, body] of Object.entries(INDEPENDENT))
    it(`${name} is an axis`, async () => {
      assert.equal(axes(text(body)), 3);
      const [first, second] = await results(text(body));
      assert.deepEqual(second, first);
      assert.equal(axes(text(body, SERIAL)), 2);
      assert.deepEqual(await results(text(body, SERIAL)), [first, first]);
      assert.ok(first.slice(0, 120).some((value) => value !== 0));
    });

  for (const [name, body] of Object.entries(CARRIED))
    it(`stays one where it carries ${name}`, async () => {
      assert.equal(axes(text(body)), 2);
      assert.deepEqual(await results(text(body)), await results(text(body, SERIAL)));
    });

  it("stands where memory has it", () => {
    const body = "v(i, j, k) = u(i, j, k)";
    for (const [serial, outer, sizes] of [
      ["k", ["j", "i"], [6, 4, 5]],
      ["j", ["k", "i"], [6, 4, 5]],
      ["i", ["k", "j"], [6, 4, 5]],
    ] as const) {
      const kernel = fortran(text(body, { serial, outer: [...outer] }), { file: "a.F90" }).kernels.get("s")!;
      assert.deepEqual(kernel.range({ ...N, m: 3 }).extents, sizes, serial);
    }
  });
});

describe("loops in another order", () => {
  const loops = { s: { idx: ["k", "j", "i"] } };
  /** Both branches set it, which the analysis of arrays does not see. */
  const branches = "if (u(i, j, k) > 0) then\n  w(m) = u(i, j, k)\nelse\n  w(2) = 1\n  w(m) = 2\nend if\nv(i, j, k) = w(m)";

  it("are those that are asked for", async () => {
    assert.equal(axes(text(branches)), 2);
    assert.equal(axes(text(branches), { loops }), 3);
    assert.deepEqual(await results(text(branches), { loops }), await results(text(branches)));
  });

  it("are refused where an iteration needs another one, or they are no such loops", () => {
    const refused =
      (body: string, given: FortranOptions["loops"]): (() => unknown) =>
      () =>
        fortran(text(body), { file: "a.F90", loops: given });
    assert.throws(refused(CARRIED["a sum"], loops), /a\.F90:\d+:\d+: idx of s: `q` is carried from one iteration of `k` to the next/);
    assert.throws(refused(branches, { s: { idx: ["k", "i"] } }), /the parallel loop over `j` is not in it \(name all parallel loops\)/);
    assert.throws(refused(branches, { s: { idx: ["k", "j", "i", "l"] } }), /its perfectly nested loops are j, i, k/);
    assert.throws(refused(branches, { t: { idx: ["k"] } }), /loops names "t", which is not a loop of a\.F90: choose from s/);
  });
});
