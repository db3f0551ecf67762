import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { range } from "../../../src/device/launch/policy.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { f32, view } from "../../../src/kernel/declare/params.js";
import { make, noiseValue } from "../../../src/testing/values.js";
import { openWebGpu } from "./opened.js";

const divided = kernel("divided", { a: view(f32), b: view(f32), q: view(f32), r: view(f32) }, ({ a, b, q, r }, i) => {
  q[i] = a[i] / b[i];
  r[i] = Math.sqrt(a[i]);
});
const { device, skip } = await openWebGpu();

describe("strict quotients and roots on webgpu", { skip }, () => {
  after(() => device?.close());

  it("are those of f32 for any bits, or zero where they are below 2^-126", async () => {
    const n = 1 << 16;
    const [as, bs] = [0, 0.5].map((by) => new Float32Array(Uint32Array.from(make(n, (k) => noiseValue(k + by) * 2 ** 32)).buffer));
    const [a, b, q, r] = [device.from(f32, as), device.from(f32, bs), device.array(f32, n), device.array(f32, n)];
    await device.run(divided, { a, b, q, r }, range(n), { precision: "strict" });
    const [quotients, roots] = [await device.queue.read(q), await device.queue.read(r)];
    const small = (x: number): boolean => Math.abs(x) < 2 ** -126;
    for (let k = 0; k < n; k++) {
      // The device may take subnormal operands for zeros.
      if ((small(as[k]) && as[k] !== 0) || (small(bs[k]) && bs[k] !== 0)) continue;
      const quotient = Math.fround(as[k] / bs[k]);
      assert.ok(
        Object.is(quotients[k], quotient) || (small(quotient) && quotients[k] === 0),
        `${as[k]} / ${bs[k]} is ${quotients[k]} instead of ${quotient}`,
      );
      assert.equal(roots[k], Math.fround(Math.sqrt(as[k])), `the root of ${as[k]}`);
    }
  });
});
