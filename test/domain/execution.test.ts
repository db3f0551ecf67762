import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { doctor, f64, i32, max, open, range, sum, table, u8, type Device, type View } from "isoform";
import type { Container } from "../../src/domain/grid/grid.js";
import { kernelFromIR } from "../../src/kernel/declare/from-ir.js";
import { box, plane } from "./blank-grid.js";
import { callPlainly, type PlainField } from "./container/plain-container.js";
import { tested } from "../devices.js";

const found = (await doctor()).filter((report) => report.devices.length > 0).map((report) => report.backend);
const names = ["js", "js-debug", "wasm", "native"].filter((name) => found.includes(name) && tested(name));
const devices = await Promise.all(names.map((name) => open(name)));
after(() => Promise.all(devices.map((device) => device.close())));

/** Values without a pattern, each a multiple of 1/64 below 8. */
const values = (length: number, seed: number): Float64Array =>
  Float64Array.from({ length }, (_, n) => ((Math.imul(n + 1, 40503 * seed + 2654435761) >>> 23) - 256) / 64);

/** Runs the code of a container on whole arrays, cells from 1 to the last but one along each axis. Returns its reductions. */
async function runInside(
  device: Device,
  container: Container,
  fields: Readonly<Record<string, PlainField>>,
  args: Readonly<Record<string, unknown>> = {},
): Promise<Record<string, number>> {
  const views: Record<string, View> = {};
  for (const { param, field } of container.uses) {
    const { data, cardinality, extents } = fields[param];
    views[param] = device.from({ type: field.type }, data, [...extents.toReversed(), cardinality]);
  }
  if (container.mask) {
    const { active, extents } = Object.values(fields)[0];
    views[container.mask.param] = device.from(u8, active!, extents.toReversed());
  }
  const policy = range(...container.grid.extents.toReversed().map((n): [number, number] => [1, n - 1]));
  const results = await device.run(kernelFromIR(container.ir), { ...Object.fromEntries(container.values), ...views, ...args }, policy, {
    precision: "strict",
  });
  for (const { param, written } of container.uses) if (written) fields[param].data.set(await device.queue.read(views[param]));
  for (const view of Object.values(views)) view.free();
  return results;
}

const plainField = (extents: readonly number[], cardinality: number, seed: number, active?: Uint8Array): PlainField => ({
  extents,
  cardinality,
  fillValue: 0,
  active,
  data: values(
    extents.reduce((a, b) => a * b, cardinality),
    seed,
  ),
});
const copyOf = (field: PlainField): PlainField => ({ ...field, data: field.data.slice() });

describe("containers do on every device what the plain function does", () => {
  for (const device of devices) {
    it(`a lattice step in two dimensions, on ${device.name}`, async () => {
      const grid = plane();
      const f = grid.field("f", f64, 9),
        g = grid.field("g", f64, 9),
        rho = grid.field("rho", f64);
      const tables = {
        cx: table(i32, [0, 1, 0, -1, 0, 1, -1, -1, 1]),
        cy: table(i32, [0, 0, 1, 0, -1, 1, 1, -1, -1]),
        w: table(f64, [4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36]),
      };
      const equilibrium = (w: number, rho: number, cu: number, uu: number): number => w * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * uu);
      const made = grid.container(
        "lattice",
        { f, g, rho, ...tables, equilibrium, omega: 1.25 },
        ({ f, g, rho, cx, cy, w, equilibrium, omega }, c) => {
          const own = new Float64Array(9);
          for (let q = 0; q < 9; q++) own[q] = f.isActive(c, -cx[q]!, -cy[q]!) ? f.at(c, -cx[q]!, -cy[q]!)[q]! : 0.125;
          let [sum, ux, uy] = [0.0, 0.0, 0.0];
          for (let q = 0; q < 9; q++) {
            sum += own[q]!;
            ux += cx[q]! * own[q]!;
            uy += cy[q]! * own[q]!;
          }
          if (sum === 0) sum = 1;
          ux /= sum;
          uy /= sum;
          for (let q = 0; q < 9; q++) {
            const target = equilibrium(w[q]!, sum, cx[q]! * ux + cy[q]! * uy, ux * ux + uy * uy);
            g[c]![q] = own[q]! + omega * (target - own[q]!);
          }
          rho[c] = sum + c.x * 0.125;
        },
      );
      const active = Uint8Array.from({ length: 16 * 8 }, (_, n) => (n % 5 === 3 ? 0 : 1));
      const fields = { f: plainField([16, 8], 9, 1, active), g: plainField([16, 8], 9, 2), rho: plainField([16, 8], 1, 3) };
      // The code knows nothing of fill values, so cells that are not active hold them.
      active.forEach((on, cell) => on || fields.f.data.fill(0, 9 * cell, 9 * cell + 9));
      const plain = { f: fields.f, g: copyOf(fields.g), rho: copyOf(fields.rho) };
      await runInside(device, made, fields);
      const constants = { cx: tables.cx.values, cy: tables.cy.values, w: tables.w.values, equilibrium, omega: 1.25 };
      callPlainly(grid.bodies.get(made)!, { ...plain, ...constants }, [1, 1], [15, 7]);
      assert.deepEqual(fields.rho.data, plain.rho.data);
      assert.deepEqual(fields.g.data, plain.g.data);
    });

    it(`a stencil that reduces, with a scalar on the device, on ${device.name}`, async () => {
      const grid = box();
      const [p, s, mark] = [grid.field("p", f64), grid.field("s", f64), grid.field("mark", u8)];
      const [alpha, ps, top] = [grid.scalar("alpha", f64), grid.scalar("ps", f64), grid.scalar("top", f64)];
      const made = grid.container(
        "matvec",
        { p, s, mark, alpha, ps: sum(ps), top: max(top), cut: true },
        ({ p, s, mark, alpha, ps, top, cut }, c) => {
          const value =
            6 * p[c]! - p.at(c, 1, 0, 0) - p.at(c, -1, 0, 0) - p.at(c, 0, 1, 0) - p.at(c, 0, -1, 0) - p.at(c, 0, 0, 1) - p.at(c, 0, 0, -1);
          s[c] = alpha * value;
          mark[c] = c.x + 16 * c.y;
          if (cut && value < 0) return;
          ps.add(value * p[c]!);
          top.max(value);
        },
      );
      const fields = { p: plainField([16, 8, 4], 1, 5), s: plainField([16, 8, 4], 1, 6), mark: plainField([16, 8, 4], 1, 7) };
      const bytes = { ...fields.mark, data: new Uint8Array(fields.mark.data.length) };
      const plain = { p: fields.p, s: copyOf(fields.s), mark: { ...bytes, data: bytes.data.slice() } };
      const results = await runInside(device, made, { ...fields, mark: bytes }, { alpha: device.from(f64, [0.5]) });
      // Multiples of 2^-12 add up without rounding, in any order.
      let [total, greatest] = [0, -Infinity];
      const reductions = { ps: { add: (v: number) => (total += v) }, top: { max: (v: number) => (greatest = Math.max(greatest, v)) } };
      callPlainly(grid.bodies.get(made)!, { ...plain, ...reductions, alpha: 0.5, cut: true }, [1, 1, 1], [15, 7, 3]);
      assert.deepEqual(fields.s.data, plain.s.data);
      assert.deepEqual(bytes.data, plain.mark.data);
      assert.deepEqual(results, { ps: total, top: greatest });
    });
  }
});
