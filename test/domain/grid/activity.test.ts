import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { activityOf, coarseMask, type Activity } from "../../../src/domain/grid/activity.js";

/** What an activity tells of its planes by runs, as bytes. */
function byRuns(activity: Activity): Uint8Array {
  const bytes = new Uint8Array(activity.planes.length * activity.planeSize);
  activity.planes.forEach((cells, plane) => {
    let [last, sum] = [-1, 0];
    activity.eachRun(plane, (begin, end) => {
      assert.ok(begin > last && end > begin && end <= activity.planeSize);
      // Longest runs: an inactive cell lies between two of them.
      last = end;
      sum += end - begin;
      bytes.fill(1, plane * activity.planeSize + begin, plane * activity.planeSize + end);
    });
    assert.equal(sum, cells);
  });
  return bytes;
}

describe("which cells are active", () => {
  it("is told by planes, by runs and by cells, whether runs or bits are kept", () => {
    const extent = fc.integer({ min: 1, max: 9 });
    const box = fc.oneof(fc.tuple(extent, extent), fc.tuple(extent, extent, extent));
    const check = (extents: readonly number[], period: number, rare: number): void => {
      const size = extents.reduce((a, b) => a * b, 1);
      // Alternating cells take more room as runs than as bits, long stretches less.
      const mask = Uint8Array.from({ length: size }, (_, n) => (Math.floor(n / period) % 2 === 0 || n % rare === 0 ? 1 : 0));
      const activity = activityOf(extents, mask);
      assert.deepEqual(activity.bytes(0, extents.at(-1)!), mask);
      assert.deepEqual(byRuns(activity), mask);
      assert.deepEqual(activity.mask ?? new Uint8Array(size).fill(1), mask);
      const [nx, ny] = extents;
      const asked = activityOf(extents, (x, y, z) => mask[(z * ny + y) * nx + x] === 1);
      assert.deepEqual(asked.planes, activity.planes);
      for (let n = 0; n < size; n++) {
        const [plane, place] = [Math.floor(n / activity.planeSize), n % activity.planeSize];
        assert.equal(asked.has(plane, place), mask[n] === 1);
        assert.equal(
          asked.before(plane, place),
          mask.subarray(plane * activity.planeSize, n).reduce((a, b) => a + b, 0),
        );
      }
    };
    fc.assert(fc.property(box, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2, max: 40 }), check), { numRuns: 200, seed: 1 });
  });

  it("is asked for plane after plane, each cell once, and kept in blocks of planes", () => {
    // Planes of more and of fewer cells than a block.
    for (const extents of [
      [1100, 1000, 3],
      [700, 500, 7],
      [3, 400000],
    ]) {
      const [nx, ny] = extents;
      let asked = 0;
      const isActive = (x: number, y: number, z: number): boolean => (x * 7 + y * 13 + z * 29) % 31 < 12 && y % 5 !== 2;
      const activity = activityOf(extents, (x, y, z) => {
        assert.equal((z * ny + y) * nx + x, asked++);
        return isActive(x, y, z);
      });
      const expected = Uint8Array.from({ length: asked }, (_, n) => {
        const x = n % nx;
        return isActive(x, Math.floor(n / nx) % ny, Math.floor(n / nx / ny)) ? 1 : 0;
      });
      assert.ok(Buffer.from(activity.bytes(0, extents.at(-1)!)).equals(expected));
      assert.ok(Buffer.from(byRuns(activity)).equals(expected));
    }
  });

  it("takes no memory where every cell is", () => {
    const activity = activityOf([4, 3], () => true);
    assert.equal(activity.isFull, true);
    assert.equal(activity.mask, undefined);
    assert.deepEqual([...activity.plane(2)], [1, 1, 1, 1]);
    assert.deepEqual(activityOf([3, 2], new Uint8Array([0, 7, 1, 0, 1, 0])).mask, new Uint8Array([0, 1, 1, 0, 1, 0]));
  });

  it("is not given as one array of more than 1 GiB", () => {
    const large = Object.create(activityOf([3, 2], new Uint8Array([0, 1, 1, 0, 1, 0])), {
      planes: { value: { length: 2 ** 31 } },
    }) as Activity;
    assert.throws(
      () => large.mask,
      /^LaunchError: the mask of a grid of \[3,2\] cells has \d+ bytes, more than 1 GiB; use activity\.bytes\(first, end\)/,
    );
  });

  it("is refused for extents that are none, a mask of another size, and a domain without cells", () => {
    assert.throws(() => activityOf([2, 2], () => false), { name: "LaunchError", message: /none of them active: the domain is empty/ });
    assert.throws(() => activityOf([2, 2], new Uint8Array(3)), {
      message: /a mask of 3 bytes for a grid of \[2,2\] cells: give one byte for each of the 4/,
    });
    assert.throws(() => activityOf([2, 2], 5 as never), /a grid is given 5 for its active cells/);
    for (const extents of [[4], [4, 0, 4], [1, 2, 3, 4], [2.5, 4]])
      assert.throws(() => activityOf(extents, undefined), /two or three whole numbers/);
  });

  it("is that of a cell of twice the size where one of its cells is", () => {
    for (const extents of [
      [5, 4],
      [5, 3, 4],
      [4, 5, 3],
    ]) {
      const [nx, ny, nz = 1] = extents;
      const size = nx * ny * nz;
      const mask = Uint8Array.from({ length: size }, (_, n) => (n % 7 === 3 ? 1 : 0));
      const isCoarse = coarseMask(activityOf(extents, mask));
      const at = (x: number, y: number, z: number): boolean => x < nx && y < ny && z < nz && mask[(z * ny + y) * nx + x] === 1;
      const pair = (n: number) => [2 * n, 2 * n + 1];
      for (let z = 0; z < Math.ceil(nz / 2); z++)
        for (let y = 0; y < Math.ceil(ny / 2); y++)
          for (let x = 0; x < Math.ceil(nx / 2); x++) {
            const expected = pair(z).some((cz) => pair(y).some((cy) => pair(x).some((cx) => at(cx, cy, cz))));
            assert.equal(isCoarse(x, y, z), expected);
          }
    }
  });
});
