import assert from "node:assert/strict";
import { it, test } from "node:test";
import { complex, complexf, f32, f64, i32, LaunchError, open, View } from "isoform";
import { fft, type Fft } from "isoform/patterns";
import type { Device } from "../../src/device/device.js";
import { noiseValue } from "../../src/testing/values.js";
import { noisePairs, plainDft, relativeError } from "./dft.js";
import { eachDevice } from "./devices.js";

/** Passes of all kinds, several of one kind, and lengths that are convolved. */
const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 30, 32, 64, 97, 105, 128, 202, 256];

/** The same, for devices whose compilers take seconds for each kind of pass. */
const FEW_LENGTHS = [1, 12, 60, 101];
const hasCompiler = ({ backend }: Device): boolean => ["native", "opencl", "cuda", "hip"].includes(backend);

/** Types that a device computes with, and the error that is allowed for each, times log2 n. */
const typesOf = (device: Device) => [
  ...(device.capabilities.f64 ? [{ pair: complex, real: f64, allowed: 2e-15 } as const] : []),
  { pair: complexf as unknown as typeof complex, real: f32 as unknown as typeof f64, allowed: 1e-6 } as const,
];

const allowedError = (allowed: number, count: number): number => allowed * Math.max(1, Math.log2(count));

async function transformed(device: Device, what: Fft): Promise<ArrayLike<number>> {
  const pattern = fft(device, what);
  await pattern.run();
  pattern.free();
  return device.queue.read(what.output as View);
}

await eachDevice("Fourier transforms", (device) => {
  it("are what the sums are, forward and inverse", async () => {
    for (const { pair, allowed } of typesOf(device))
      for (const n of hasCompiler(device) ? FEW_LENGTHS : LENGTHS)
        for (const inverse of [false, true]) {
          const input = device.from(pair, noisePairs(n));
          const output = device.array(pair, n);
          const found = await transformed(device, { input, output, inverse });
          const error = relativeError(found, plainDft(await device.queue.read(input), [n], 0, inverse));
          assert.ok(error <= allowedError(allowed, n), `${n} ${input.type} ${inverse}: ${error}`);
        }
  });

  it("go along any axes, of any layouts", async () => {
    const shape = [4, 6, 5];
    const { pair, allowed } = typesOf(device)[0];
    for (const axes of [[0], [1], [2], [2, 0], undefined])
      for (const layout of ["right", "left"] as const) {
        const input = device.from(pair, noisePairs(120), shape, { layout });
        const output = device.array(pair, shape, { layout });
        const found = await transformed(device, { input, output, axes });
        let expected = new Float64Array(await device.queue.read(input));
        for (const axis of axes ?? [0, 1, 2]) expected = plainDft(expected, shape, axis) as typeof expected;
        assert.ok(relativeError(found, expected) <= allowedError(allowed, 120), `${axes} ${layout}`);
      }
  });

  it("take real numbers to half of the modes, and back", async () => {
    const { pair, real, allowed } = typesOf(device)[0];
    for (const [shape, axes] of [
      ...(hasCompiler(device) ? [15, 12] : [1, 2, 6, 15, 34, 64]).map((n) => [[n], [0]] as const),
      [[3, 8], [1]],
      [[8, 3], [0]],
      [[4, 5, 6], undefined],
      [
        [4, 6, 5],
        [0, 1],
      ],
    ] as (readonly [number[], number[] | undefined])[]) {
      const count = shape.reduce((a, b) => a * b, 1);
      const last = axes?.at(-1) ?? shape.length - 1;
      const input = device.from(
        real,
        Float64Array.from({ length: count }, (_, k) => noiseValue(k)),
        shape,
      );
      const half = shape.map((n, axis) => (axis === last ? Math.floor(n / 2) + 1 : n));
      const output = device.array(pair, half);
      const found = await transformed(device, { input, output, axes, real: true });
      const values = await device.queue.read(input);
      let all = Float64Array.from({ length: 2 * count }, (_, k) => (k % 2 ? 0 : values[k / 2]));
      for (const axis of axes ?? shape.keys()) all = plainDft(all, shape, axis) as typeof all;
      const expected: number[] = [];
      const inner = shape.slice(last + 1).reduce((a, b) => a * b, 1);
      for (let k = 0; k < count; k++) if (Math.floor(k / inner) % shape[last] < half[last]) expected.push(all[2 * k], all[2 * k + 1]);
      assert.ok(relativeError(found, expected) <= allowedError(allowed, count), `${shape} ${axes}`);
      const back = await transformed(device, { input: output, output: device.array(real, shape), axes, real: true, inverse: true });
      assert.ok(relativeError(back, values) <= allowedError(allowed, count), `${shape} ${axes}, back`);
    }
  });
});

test("strict bits are the same on the CPU's devices, for pairs and for parts", async (t) => {
  const bits = new Map<string, string>();
  for (const name of ["js", "js-debug", "wasm", "native"]) {
    const device = await open(name).catch(() => undefined);
    if (!device) {
      t.diagnostic(`${name} is missing`);
      continue;
    }
    device.precision = "strict";
    const found: number[] = [];
    for (const n of [60, 101, 128, 1000]) {
      const data = noisePairs(n);
      found.push(...Array.from(await transformed(device, { input: device.from(complex, data), output: device.array(complex, n) })));
      const part = (odd: number) =>
        device.from(
          f64,
          data.filter((_, k) => k % 2 === odd),
        );
      const [input, output] = [
        { re: part(0), im: part(1) },
        { re: part(0), im: part(1) },
      ];
      await fft(device, { input, output, inverse: true }).run();
      found.push(...(await device.queue.read(output.re)), ...(await device.queue.read(output.im)));
    }
    bits.set(name, Buffer.from(Float64Array.from(found).buffer).toString("hex"));
    await device.close();
  }
  assert.equal(new Set(bits.values()).size, 1, [...bits.keys()].join());
});

test("the imaginary parts of modes that are real do not count", async () => {
  const device = await open("js");
  for (const n of [1, 2, 7, 8]) {
    const modes = device.array(complex, Math.floor(n / 2) + 1);
    const data = noisePairs(modes.length);
    await device.queue.write(modes, data);
    const found = await transformed(device, { input: modes, output: device.array(f64, n), real: true, inverse: true });
    data[1] = 0;
    if (n % 2 === 0) data[data.length - 1] = 0;
    await device.queue.write(modes, data);
    assert.deepEqual(
      Array.from(await transformed(device, { input: modes, output: device.array(f64, n), real: true, inverse: true })),
      Array.from(found),
    );
  }
  await device.close();
});

test("a transform may be submitted again, and costs what its launches do", async () => {
  const device = await open("wasm");
  const [input, output] = [device.from(complex, noisePairs(48)), device.array(complex, 48)];
  const pattern = fft(device, { input, output });
  await pattern.run();
  const first = await device.queue.read(output);
  await device.queue.write(input, noisePairs(48, 1));
  await pattern.run();
  assert.notDeepEqual(await device.queue.read(output), first);
  await device.queue.write(input, noisePairs(48));
  await pattern.run();
  assert.deepEqual(await device.queue.read(output), first);
  const sum = (of: "flops" | "bytes") => pattern.launches.reduce((total, { cost }) => total + cost[of], 0);
  assert.deepEqual({ flops: pattern.cost.flops, bytes: pattern.cost.bytes }, { flops: sum("flops"), bytes: sum("bytes") });
  assert.ok(pattern.cost.flops > 48 && pattern.cost.bytes >= 4 * 48 * 8);
  await device.close();
});

test("arguments that do not fit are refused", async () => {
  const device = await open("js");
  const x = device.array(complex, [4, 8]);
  const y = device.array(complex, [4, 8]);
  const r = device.array(f64, [4, 8]);
  const cases: readonly (readonly [Fft, RegExp])[] = [
    [{ input: x, output: x }, /output \(re\) and input \(re\) share memory, and output \(re\) is written: give it memory of its own/],
    [{ input: x, output: device.array(complex, [4, 7]) }, /fft of \[4,8\] numbers into \[4,7\]: shapes must be equal/],
    [{ input: x, output: device.array(complexf, [4, 8]) }, /fft of f64 into f32: types must be equal/],
    [{ input: r, output: y }, /shape \[4,8\] is not one of complex numbers, whose last axis has 2 elements: give an array of complex/],
    [{ input: r, output: y, real: true }, /\[4,8\] real numbers has \[4,5\] modes, and the output has \[4,8\]: give an array of \[4,5\]/],
    [{ input: x, output: y, axes: [2] }, /fft along axis 2 of an array of rank 2: give axes from 0 to 1/],
    [{ input: x, output: y, axes: [1, 1] }, /fft along axis 1 twice: name each axis once/],
    [{ input: x, output: y, axes: [] }, /fft along no axis: name one at least/],
    [{ input: { re: r, im: device.array(f64, 32) }, output: y }, /re is f64 \[4,8\] and im f64 \[32\]: give both the same type and shape/],
    [{ input: device.array(i32, [4, 8, 2]) as never, output: y }, /a view of i32 was given: give f64 or f32/],
    [{ input: x, output: y, inverse: 1 as never }, /fft, for inverse, is given .*1; give true or false/],
    [
      { input: device.array(complex, [4, 16, 3]).slice(undefined, [0, 8]), output: device.array(complex, [4, 8, 3]), axes: [2] },
      /do not lie evenly: copy it into an array of its own/,
    ],
    [{ input: device.array(f64, [3, 0]), output: device.array(complex, [3, 1]), real: true }, /fft along axis 1, which has no elements/],
  ];
  for (const [what, message] of cases)
    assert.throws(
      () => fft(device, what),
      (error) => error instanceof LaunchError && message.test(error.message),
      String(message),
    );
  assert.throws(() => fft(device, { input: x, output: y, axis: 1 } as never), /fft has no option "axis"/);
  await fft(device, { input: device.array(complex, [0, 3]), output: device.array(complex, [0, 3]) }).run();
  await device.close();
});
