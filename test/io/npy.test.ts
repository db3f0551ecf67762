import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readNpy, writeNpy, type NpyValues } from "../../src/io/index.js";
import { python, pythonLacks } from "./table/python.js";
import { randomNumbers } from "./table/random-table.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-npy-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, `${name}.npy`);
const missing = await pythonLacks("numpy");
const random = randomNumbers(5);

/** Random bits of values, but no NaN, of which there are many. */
function bitsOf<A extends NpyValues>(make: new (buffer: ArrayBuffer) => A, length: number): A {
  const bytes = Uint8Array.from({ length }, () => Math.floor(256 * random()));
  const values = new make(bytes.buffer);
  for (let n = 0; n < values.length; n++) if (values[n] !== values[n]) values[n] = 0;
  return values;
}

const ARRAYS: Readonly<Record<string, NpyValues>> = {
  "<f8": bitsOf(Float64Array, 192),
  "<f4": bitsOf(Float32Array, 96),
  "<i4": bitsOf(Int32Array, 96),
  "<u4": bitsOf(Uint32Array, 96),
  "<i2": bitsOf(Int16Array, 48),
  "<u2": bitsOf(Uint16Array, 48),
  "|i1": bitsOf(Int8Array, 24),
  "|u1": bitsOf(Uint8Array, 24),
  "<i8": bitsOf(BigInt64Array, 192),
  "<u8": bitsOf(BigUint64Array, 192),
};
const SHAPE = [2, 3, 4];
const HALVES = Float32Array.of(0, -0, 1, 65504, 6e-8, Infinity, -2.5, 1e-3);

describe("npy files", () => {
  it("give arrays back bit by bit", async () => {
    for (const [type, data] of Object.entries(ARRAYS)) {
      await writeNpy(at("a"), { shape: SHAPE, data });
      assert.deepEqual(await readNpy(at("a")), { shape: SHAPE, data }, type);
    }
    await writeNpy(at("a"), Float64Array.of(1, NaN));
    assert.deepEqual(await readNpy(at("a")), { shape: [2], data: Float64Array.of(1, NaN) });
    await writeNpy(at("a"), { shape: [2], type: "|b1", data: Uint8Array.of(1, 0) });
    assert.deepEqual(await readNpy(at("a")), { shape: [2], data: Uint8Array.of(1, 0) });
    await writeNpy(at("a"), { shape: [4], type: "<f8", pieces: () => [Float64Array.of(1), Float64Array.of(2, 3, 4)] });
    assert.deepEqual((await readNpy(at("a"))).data, Float64Array.of(1, 2, 3, 4));
  });

  it("round to floats of 16 bits, ties to even", async () => {
    await writeNpy(at("h"), { type: "<f2", data: Float32Array.of(2049, 2051, 1e6, -0, NaN) });
    assert.deepEqual((await readNpy(at("h"))).data, Float32Array.of(2048, 2052, Infinity, -0, NaN));
  });

  it("refuse what is not there, cut off or of another type, and leave the file that was", async () => {
    await assert.rejects(readNpy(at("none")), /none\.npy cannot be read: /);
    await writeNpy(at("a"), { shape: SHAPE, data: ARRAYS["<f8"] });
    const whole = readFileSync(at("a"));
    writeFileSync(at("cut"), whole.subarray(0, whole.length - 1));
    await assert.rejects(readNpy(at("cut")), /the array has 191 bytes, and its shape \(2, 3, 4\) needs 192/);
    writeFileSync(at("text"), "1 2 3\n4 5 6\n");
    await assert.rejects(readNpy(at("text")), /the array is not in NumPy's format \.npy/);
    writeFileSync(at("c"), Buffer.from(whole.toString("latin1").replace("<f8", "<c8"), "latin1"));
    await assert.rejects(readNpy(at("c")), /has values of the type <c8: isoform reads <f8, /);
    await assert.rejects(writeNpy(at("a"), { shape: [5], data: new Float64Array(4) }), /the array has 4 values and the shape \(5\)/);
    await assert.rejects(writeNpy(at("a"), { type: "<f2", data: new Float64Array(4) }), /as <f2, which a Float32Array can: give one/);
    const short = { shape: [4], type: "<f8", pieces: () => [Float64Array.of(1)] } as const;
    await assert.rejects(writeNpy(at("a"), short), /the array has 8 bytes instead of 32/);
    assert.deepEqual(readFileSync(at("a")), whole);
  });
});

/** Reads our files, and writes the same arrays little-endian, big-endian and in Fortran's order. */
const PROGRAM = `
import sys, json, numpy
folder = sys.argv[1]
for n, type in enumerate(json.loads(sys.argv[2])):
    array = numpy.load(f"{folder}/{n}.npy")
    assert array.dtype == numpy.dtype(type), (array.dtype, type)
    numpy.save(f"{folder}/{n}-little.npy", array)
    numpy.save(f"{folder}/{n}-big.npy", array.astype(array.dtype.newbyteorder(">")))
    numpy.save(f"{folder}/{n}-fortran.npy", numpy.asfortranarray(array))
numpy.save(f"{folder}/zero.npy", numpy.float64(3.5))
numpy.save(f"{folder}/none.npy", numpy.zeros((0, 4)))
`;

it("npy files have the same bits for NumPy, both ways", { skip: missing }, async () => {
  const all = [
    ...Object.entries(ARRAYS).map(([type, data]) => ({ type, shape: SHAPE, data, asked: undefined })),
    { type: "<f2", shape: [2, 2, 2], data: HALVES, asked: "<f2" as const },
    { type: "|b1", shape: [2, 3], data: Uint8Array.of(0, 1, 1, 0, 1, 0), asked: "|b1" as const },
  ];
  const halves = Float32Array.of(0, -0, 1, 65504, 5.960464477539063e-8, Infinity, -2.5, 0.00100040435791015625);
  for (const [n, { shape, data, asked }] of all.entries()) await writeNpy(at(String(n)), { shape, data, type: asked });
  await python(PROGRAM, folder, JSON.stringify(all.map(({ type }) => type)));
  for (const [n, { type, shape, data }] of all.entries())
    for (const form of ["little", "big", "fortran"])
      assert.deepEqual(await readNpy(at(`${n}-${form}`)), { shape, data: type === "<f2" ? halves : data }, `${type}, ${form}`);
  assert.deepEqual(await readNpy(at("zero")), { shape: [], data: Float64Array.of(3.5) });
  assert.deepEqual(await readNpy(at("none")), { shape: [0, 4], data: new Float64Array(0) });
});
