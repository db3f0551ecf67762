import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Device } from "isoform";
import { doctor, f64, open, range } from "isoform";
import { along, cellSize, dofs, meshOf } from "../../../apps/pic/mesh/mesh.js";
import { depositKernel, kickKernel } from "../../../apps/pic/particles/particles.js";
import { blockOn, CHARGE, close, DT, fieldOf, L, largest, MESH, particles, pushOn, RATIO, upload } from "./flow.js";
import { density, electricField, push } from "./reference.js";

const reports = await doctor();

describe("the flow along an axis, on js", () => {
  let device: Device;
  before(async () => void (device = await open("js")));
  after(() => device.close());

  for (const [name, mesh] of [
    ["cubic 3D3V", MESH],
    ["quadratic 3D3V", meshOf([9, 8, 7], [L, 1, 2], 2, 3)],
    ["quintic 3D3V", meshOf([12, 11, 13], [L, 1, 2], 5, 3)],
    ["cubic 1D3V", meshOf([16], [L], 3, 3)],
  ] as const)
    for (const axis of [0, 1, 2])
      test(`${name} along ${axis + 1} is that of the definitions`, async () => {
        const [list, b] = [particles(mesh, axis, name.startsWith("quintic") ? 20 : 60), fieldOf(mesh)];
        const found = await pushOn(device, mesh, axis, list, DT, b);
        const j = new Float64Array(dofs(mesh));
        for (const particle of list) push(mesh, axis, DT, particle, b, j, CHARGE, RATIO);
        close(found.j, j, 1e-14 * list.length, "current");
        for (const k of [0, 1, 2]) {
          close(
            found.v[k],
            list.map(({ v }) => v[k]),
            2e-14,
            `v${k + 1}`,
          );
          // 0 and the length of the box are one place.
          const { length } = mesh.axes[k];
          const apart = list.map(({ x }, n) => (found.x[k][n] - x[k]) / length);
          assert.ok(largest(apart.map((share) => share - Math.round(share))) < 1e-14);
          assert.ok(found.x[k].every((place) => place >= 0 && (place < length || mesh.axes[k].degree === 0)));
        }
      });

  test("a particle that is lost keeps nobody waiting", { timeout: 240_000 }, async () => {
    const [first, ...rest] = particles(MESH, 0);
    const { v } = await pushOn(device, MESH, 0, [{ ...first, v: [1e300, 0, 0] }, ...rest], DT, fieldOf(MESH));
    assert.equal(v[0][0], 1e300);
  });

  test("charge density and electric field are those of the definitions", async () => {
    const list = particles(MESH, 0, 40);
    const { x, v, w } = upload(device, list);
    const e = fieldOf(MESH);
    const [ha, hb, hc] = MESH.axes.map(cellSize);
    const place = { ha, hb, hc, xa: x[0], xb: x[1], xc: x[2] };
    const rho = device.array(f64, [8, 8, 16]);
    const [na, nb, nc] = MESH.axes.map(({ cells }) => cells);
    await device.run(depositKernel(MESH), { ...place, charge: CHARGE, w, rho: along(rho, 0), na, nb, nc }, range(list.length));
    close(await device.queue.read(rho), density(MESH, list, CHARGE), 1e-14, "density");
    const [e1, e2, e3] = e.map((data) => along(blockOn(device, MESH, data), 0));
    const [v1, v2, v3] = v;
    await device.run(kickKernel(MESH), { ...place, factor: 2, e1, e2, e3, v1, v2, v3, velocities: 3 }, range(list.length));
    for (const k of [0, 1, 2])
      close(
        await device.queue.read(v[k]),
        list.map((p) => p.v[k] + 2 * electricField(MESH, p.x, e)[k]),
        1e-14,
        `v${k + 1}`,
      );
  });
});

for (const name of ["js-debug", "wasm", "native"]) {
  const missing = reports.find((report) => report.backend === name)?.missing;
  test(`strict bits on ${name} are those of js`, { skip: missing && `${name}: ${missing.reason}` }, async () => {
    const bits = async (backend: string) => {
      const device = await open(backend);
      try {
        return await Promise.all([0, 1, 2].map((axis) => pushOn(device, MESH, axis, particles(MESH, axis, 2500), DT, fieldOf(MESH))));
      } finally {
        await device.close();
      }
    };
    assert.deepEqual(await bits(name), await bits("js"));
  });
}

for (const name of ["js", "wasm", "native"])
  for (const strategy of ["atomic", "duplicated"] as const) {
    const missing = reports.find((report) => report.backend === name)?.missing;
    test(
      `fast ${strategy} currents on ${name} are the strict ones but for rounding`,
      { skip: missing && `${name}: ${missing.reason}` },
      async () => {
        const device = await open(name);
        try {
          const [list, b] = [particles(MESH, 0, 5000), fieldOf(MESH)];
          const strict = await pushOn(device, MESH, 0, list, DT, b);
          const fast = await pushOn(device, MESH, 0, list, DT, b, { precision: "fast", scatter: strategy });
          close(fast.j, strict.j, 1e-12 * largest(strict.j), "current");
          for (const k of [0, 1, 2]) close(fast.v[k], strict.v[k], 2e-15, `v${k + 1}`);
        } finally {
          await device.close();
        }
      },
    );
  }
