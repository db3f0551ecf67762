import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { meshActivity, sparse, type TriangleMesh } from "../../../src/domain/index.js";
import { f64, sum } from "../../../src/kernel/declare/params.js";
import { jsSet } from "../sets.js";
import { boxMesh, together, torusMesh, windingAt } from "./shapes.js";

/** Whether a place lies in the plane of a triangle, nearly. */
function isInPlaneOfFace({ vertices, triangles }: TriangleMesh, place: readonly number[]): boolean {
  return Array.from({ length: triangles.length / 3 }, (_, n) => 3 * n).some((n) => {
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((axis) => vertices[3 * triangles[n + k] + axis] - place[axis]));
    return Math.abs(a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) < 1e-9;
  });
}
const count = (bytes: Uint8Array): number => bytes.reduce((a, b) => a + b, 0);

/** Cells at whose centres the solid angles tell another answer. */
function wrongCells(mesh: TriangleMesh, extents: readonly [number, number, number]): number[] {
  const { active, origin, spacing } = meshActivity(mesh, extents);
  const [nx, ny] = extents;
  return [...active.keys()].filter((n) => {
    const cell = [n % nx, Math.floor(n / nx) % ny, Math.floor(n / (nx * ny))];
    const [x, y, z] = cell.map((at, axis) => origin[axis] + (at + 0.5) * spacing);
    return (Math.round(windingAt(mesh, [x, y, z])) !== 0) !== (active[n] === 1);
  });
}

describe("cells inside a mesh", () => {
  it("are those around which it winds: a torus, a box with a cavity, boxes that overlap, one inside out", () => {
    const tilted = (mesh: TriangleMesh): TriangleMesh => ({
      ...mesh,
      vertices: Array.from(mesh.vertices, (_, n) => {
        const [x, y, z] = [0, 1, 2].map((axis) => mesh.vertices[n - (n % 3) + axis]);
        return [x + 0.31 * y, y - 0.17 * z + 0.05 * x, z + 0.23 * x][n % 3];
      }),
    });
    const shapes = [
      torusMesh(2, 0.8, 30, 14),
      together(boxMesh([0, 0, 0], [4, 4, 4]), boxMesh([1, 1, 1], [3, 2, 3], true)),
      together(boxMesh([0, 0, 0], [4, 4, 4]), boxMesh([2, 2, 2], [6, 5, 7])),
      boxMesh([0, 0, 0], [3, 2, 1], true),
    ];
    for (const shape of shapes) assert.deepEqual(wrongCells(tilted(shape), [17, 13, 15]), []);
  });

  it("are counted once where corners, edges and faces go through their centres", () => {
    const at = { origin: [-0.5, -0.5, -0.5], spacing: 1 } as const;
    for (const edge of [1, 3, 4]) {
      const { active } = meshActivity(boxMesh([1, 1, 1], [1 + edge, 1 + edge, 1 + edge]), [9, 9, 9], at);
      assert.equal(count(active), edge ** 3);
    }
    // Boxes that share faces fill what one box fills.
    const halves = together(boxMesh([1, 1, 1], [3, 5, 5]), boxMesh([3, 1, 1], [5, 5, 5]));
    assert.deepEqual(meshActivity(halves, [8, 8, 8], at).active, meshActivity(boxMesh([1, 1, 1], [5, 5, 5]), [8, 8, 8], at).active);
    const octahedron = {
      vertices: [[4, 0, 0], [-4, 0, 0], [0, 4, 0], [0, -4, 0], [0, 0, 4], [0, 0, -4]].flatMap((v) => v.map((n) => n + 5)), // prettier-ignore
      triangles: [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5],
    };
    // Points of |x| + |y| + |z| <= 4: half of those on the surface count, as many as lie beyond it along the same way.
    const inside = meshActivity(octahedron, [11, 11, 11], at).active;
    const strictly = [...inside.keys()].filter((n) => [n % 11, Math.floor(n / 11) % 11, Math.floor(n / 121)].reduce((s, v) => s + Math.abs(v - 5), 0) < 4); // prettier-ignore
    assert.ok(strictly.every((n) => inside[n] === 1));
    assert.ok(count(inside) < 129);
  });

  it("random tetrahedra with corners on cells and beside them agree with solid angles away from the surface", () => {
    const corner = fc.tuple(
      ...Array.from({ length: 3 }, () => fc.oneof(fc.integer({ min: 0, max: 8 }), fc.double({ min: 0, max: 8, noNaN: true }))),
    );
    fc.assert(
      fc.property(fc.tuple(corner, corner, corner, corner), (corners) => {
        const mesh = { vertices: corners.flat(), triangles: [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3] };
        const { active } = meshActivity(mesh, [9, 9, 9], { origin: [-0.5, -0.5, -0.5], spacing: 1 });
        for (const n of active.keys()) {
          const cell = [n % 9, Math.floor(n / 9) % 9, Math.floor(n / 81)];
          if (!isInPlaneOfFace(mesh, cell))
            assert.equal(active[n], Math.abs(Math.round(windingAt(mesh, [cell[0], cell[1], cell[2]]))), `cell ${n}`);
        }
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  it("make a sparse grid", async () => {
    const extents = [48, 48, 20] as const;
    const { active, spacing } = meshActivity(torusMesh(3, 1, 90, 40), extents);
    const grid = sparse(jsSet(2), extents, active);
    const [u, total] = [grid.field("u", f64), grid.scalar("total", f64)];
    u.fill(1);
    await grid.run(grid.container("total", { u, total: sum(total) }, ({ u, total }, c) => total.add(u[c])));
    const volume = (await total.get()) * spacing ** 3;
    assert.ok(Math.abs(volume / (2 * Math.PI ** 2 * 3) - 1) < 0.02, `${volume}`);
    grid.free();
  });

  it("are refused for a mesh that has no inside, or none at all", () => {
    const box = boxMesh([0, 0, 0], [1, 1, 1]);
    const open = { ...box, triangles: Array.from(box.triangles).slice(3) };
    assert.throws(() => meshActivity(open, [8, 8, 8]), /no inside: 3 of its 18 edges .* first one from \[0, 0, 0\] to .*close the holes/);
    const turned = { ...box, triangles: [...Array.from(box.triangles).slice(3), 0, 6, 4] };
    assert.throws(() => meshActivity(turned, [8, 8, 8]), /turn opposite ways/);
    assert.throws(() => meshActivity({ ...box, triangles: [0, 1, 9] }, [8, 8, 8]), /of 8 corners has a triangle 0 with the corner 9/);
    assert.throws(() => meshActivity({ vertices: [0, 0, NaN], triangles: [0, 0, 0] }, [8, 8, 8]), /corner 0 with the coordinate NaN/);
    assert.throws(() => meshActivity(box, [8, 8]), /box of \[8,8\] cells/);
    assert.throws(() => meshActivity(box, [8, 8, 8], { spacing: 0 }), /length 0/);
    assert.throws(() => meshActivity({ vertices: [1, 1, 1], triangles: [0, 0, 0] }, [8, 8, 8]), /all at one place/);
  });
});
