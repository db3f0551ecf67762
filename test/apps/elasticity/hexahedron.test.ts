import assert from "node:assert/strict";
import { test } from "node:test";
import { LaunchError } from "isoform";
import { elementStiffness, nodeStiffness, offsetOf } from "../../../apps/elasticity/hexahedron.js";

const MATERIAL = { young: 3, poisson: 0.25 };
const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7];
const positions = CORNERS.map((m) => [m & 1, (m >> 1) & 1, (m >> 2) & 1]);

/** Forces in the corners for a displacement as a function of the position. */
function forces(displacement: (at: readonly number[]) => readonly number[]): number[] {
  const u = positions.flatMap((at) => displacement(at));
  return elementStiffness(MATERIAL).map((row) => row.reduce((sum, k, n) => sum + k * u[n], 0));
}

const near = (found: number, expected: number) => assert.ok(Math.abs(found - expected) < 1e-14, `${found}, not ${expected}`);

test("the element's stiffness is symmetric and all of its diagonal is equal", () => {
  const k = elementStiffness(MATERIAL);
  for (const [i, row] of k.entries()) for (const [j, value] of row.entries()) assert.equal(value, k[j][i]);
  for (let n = 1; n < 24; n++) assert.equal(k[n][n], k[0][0]);
});

test("translations and rotations take no force", () => {
  for (const axis of [0, 1, 2]) {
    const [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
    for (const force of forces(() => [0, 1, 2].map((n) => (n === axis ? 1 : 0)))) near(force, 0);
    for (const force of forces((at) => [0, 1, 2].map((n) => (n === b ? -at[c] : n === c ? at[b] : 0)))) near(force, 0);
  }
});

test("a stretched element pulls at each corner with a quarter of the stress on the face", () => {
  const { young, poisson } = MATERIAL;
  const found = forces(([x, y, z]) => [-poisson * x, -poisson * y, z]);
  for (const [m, [, , z]] of positions.entries()) {
    near(found[3 * m], 0);
    near(found[3 * m + 1], 0);
    near(found[3 * m + 2], ((z ? 1 : -1) * young) / 4);
  }
});

test("a sheared element pulls with the shear modulus", () => {
  const { young, poisson } = MATERIAL;
  const quarter = young / (2 * (1 + poisson)) / 4;
  const found = forces(([, , z]) => [z, 0, 0]);
  for (const [m, [x, , z]] of positions.entries()) {
    near(found[3 * m], (z ? 1 : -1) * quarter);
    near(found[3 * m + 2], (x ? 1 : -1) * quarter);
  }
});

test("the elements around a node have it for a corner, and share its neighbours", () => {
  for (const e of CORNERS) for (const axis of [0, 1, 2]) assert.equal(offsetOf(e, 7 - e, axis), 0);
  const k = elementStiffness(MATERIAL);
  const blocks = nodeStiffness(k);
  // Eight elements share the node itself, one has the neighbour at (1, 1, 1) for the corner opposite.
  near(blocks[13][0], 8 * k[0][0]);
  assert.equal(blocks[26][1], k[0][22]);
  // By symmetry nothing couples across axes along which a neighbour is not displaced.
  assert.deepEqual(
    blocks.map((block) => block.filter((value) => value !== 0).length),
    Array.from({ length: 27 }, (_, n) => [3, 3, 5, 9][[n % 3, Math.floor(n / 3) % 3, Math.floor(n / 9)].filter((d) => d !== 1).length]),
  );
});

test("materials that are not stable are refused", () => {
  for (const material of [
    { young: 0, poisson: 0.3 },
    { young: 1, poisson: 0.5 },
    { young: 1, poisson: -1 },
    { young: NaN, poisson: 0 },
  ])
    assert.throws(() => elementStiffness(material), LaunchError);
});
