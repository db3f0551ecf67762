import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { complex, f64, open } from "isoform";
import { fft } from "isoform/patterns";
import { python, pythonLacks } from "../io/table/python.js";
import { noisePairs, relativeError } from "./dft.js";
import { tested } from "../devices.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-fft-"));
after(() => rmSync(folder, { recursive: true }));
const missing = await pythonLacks("scipy");

/** SciPy's transforms of pairs that begin where the last ones end, one after the other. */
async function byScipy(data: Float64Array, shapes: readonly (readonly number[])[], call: string): Promise<Float64Array> {
  const [input, output] = [join(folder, "in.bin"), join(folder, "out.bin")];
  writeFileSync(input, data);
  const program = `
import json, sys, numpy, scipy.fft
data, at = numpy.fromfile(sys.argv[1], dtype=complex), 0
with open(sys.argv[2], "wb") as out:
    for shape in json.loads(sys.argv[3]):
        count = numpy.prod(shape)
        x = data[at:at + count].reshape(shape)
        out.write(numpy.ascontiguousarray(scipy.fft.${call}).tobytes())
        at += count
`;
  await python(program, input, output, JSON.stringify(shapes));
  const bytes = readFileSync(output);
  return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

for (const name of ["wasm", "native"].filter(tested)) {
  // Each length has kernels of its own, which C compilers take seconds for.
  const lengths = [...Array.from({ length: 300 }, (_, k) => k + 1).filter((n) => name === "wasm" || n % 75 === 0), 10_007];
  const shapes = [...lengths.map((n) => [n]), [12, 20, 18], [2 ** 20]];

  it(`transforms on ${name} are SciPy's, up to rounding errors`, { skip: missing }, async (t) => {
    const device = await open(name).catch((error: Error) => error.message);
    if (typeof device === "string") return t.skip(device);
    device.precision = "strict";
    const data = noisePairs(shapes.reduce((sum, shape) => sum + sizeOf(shape), 0));
    for (const inverse of [false, true]) {
      const expected = await byScipy(data, shapes, inverse ? "ifftn(x)" : "fftn(x)");
      let at = 0;
      for (const shape of shapes) {
        const count = 2 * sizeOf(shape);
        const input = device.from(complex, data.subarray(at, at + count), shape);
        const output = device.array(complex, shape);
        const pattern = fft(device, { input, output, inverse });
        await pattern.run();
        const error = relativeError(await device.queue.read(output), expected.subarray(at, at + count));
        assert.ok(error <= 2e-15 * Math.max(1, Math.log2(sizeOf(shape))), `${shape} ${inverse}: ${error}`);
        at += count;
        for (const thing of [pattern, input, output]) thing.free();
      }
    }
    await device.close();
  });

  it(`transforms of real numbers on ${name}, too`, { skip: missing }, async (t) => {
    const device = await open(name).catch((error: Error) => error.message);
    if (typeof device === "string") return t.skip(device);
    device.precision = "strict";
    const real = shapes.filter((shape) => sizeOf(shape) < 2 ** 20);
    const data = noisePairs(real.reduce((sum, shape) => sum + sizeOf(shape), 0));
    const expected = await byScipy(data, real, "rfftn(x.real)");
    let [at, found] = [0, 0];
    for (const shape of real) {
      const count = sizeOf(shape);
      const values = Float64Array.from({ length: count }, (_, k) => data[2 * (at + k)]);
      const modes = [...shape.slice(0, -1), Math.floor(shape.at(-1)! / 2) + 1];
      const [input, output, back] = [device.from(f64, values, shape), device.array(complex, modes), device.array(f64, shape)];
      await fft(device, { input, output, real: true }).run();
      const size = 2 * sizeOf(modes);
      const allowed = 2e-15 * Math.max(1, Math.log2(count));
      assert.ok(relativeError(await device.queue.read(output), expected.subarray(found, found + size)) <= allowed, `${shape}`);
      await fft(device, { input: output, output: back, real: true, inverse: true }).run();
      assert.ok(relativeError(await device.queue.read(back), values) <= 2 * allowed, `${shape}, back`);
      at += count;
      found += size;
      for (const view of [input, output, back]) view.free();
    }
    await device.close();
  });
}
