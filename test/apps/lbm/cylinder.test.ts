import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor } from "isoform";
import { devices } from "isoform/set";
import { publishedCylinders } from "../../../apps/lbm/cylinder-references.js";
import { coefficients, cylinder } from "../../../apps/lbm/obstacle.js";
import { Simulation, type Wall } from "../../../apps/lbm/simulation.js";

/* The steady drag of a cylinder of few cells against the published one; README.md has more Reynolds numbers and cells. */

const missing = (await doctor()).find(({ backend }) => backend === "native")?.missing?.reason;

test(
  "a cylinder of 6 cells has its drag to 3 % by interpolated walls, not by those half-way",
  { skip: missing !== undefined && `native: ${missing}` },
  async () => {
    const options = { reynolds: 20, size: 6, box: { before: 15, behind: 15, across: 40 } };
    const [{ drag: published }] = publishedCylinders(20);
    const set = await devices("native");
    const missOf = async (wall: Wall): Promise<number> => {
      const simulation = await Simulation.create(set, cylinder(options), { wall, type: "f32" });
      await simulation.run(3600);
      const { drag, lift } = coefficients(await simulation.force(), options, 2);
      simulation.free();
      assert.ok(Math.abs(lift) < 1e-3, `a lift of ${lift}`);
      return drag / published! - 1;
    };
    const [interpolated, halfway] = [await missOf("interpolated"), await missOf("halfway")];
    await set.close();
    assert.ok(interpolated > 0 && interpolated < 0.03, `${100 * interpolated} %`);
    assert.ok(halfway > interpolated + 0.015, `${100 * halfway} % half-way, ${100 * interpolated} % interpolated`);
  },
);
