import assert from "node:assert/strict";
import { it } from "node:test";
import { f64, open } from "isoform";
import { tridiagonal } from "isoform/patterns";
import { noiseValue } from "../../src/testing/values.js";
import { python, pythonLacks } from "../io/table/python.js";
import { tested } from "../devices.js";

const missing = await pythonLacks("scipy");

const PROGRAM = `
import json, sys, numpy, scipy.linalg
found = []
for a, b, c, d in json.loads(sys.argv[1]):
    band = numpy.zeros((3, len(b)))
    band[0, 1:], band[1], band[2, :-1] = c[:-1], b, a[1:]
    found.append(scipy.linalg.solve_banded((1, 1), band, d).tolist())
print(json.dumps(found))
`;

for (const name of ["wasm", "native"].filter(tested))
  it(`tridiagonal systems on ${name} have SciPy's solutions`, { skip: missing }, async (context) => {
    const device = await open(name).catch((error: Error) => error.message);
    if (typeof device === "string") return context.skip(device);
    const systems = [1, 2, 3, 63, 400, 700].map((n) =>
      [0, 1, 2, 3].map((m) => Array.from({ length: n }, (_, k) => noiseValue(4 * k + m + n) + (m === 1 ? 2 : -0.5))),
    );
    const expected = JSON.parse(await python(PROGRAM, JSON.stringify(systems))) as number[][];
    for (const [s, rows] of systems.entries())
      for (const method of ["elimination", "reduction"] as const) {
        const [a, b, c, d] = rows.map((list) => device.from(f64, list));
        await tridiagonal(device, { a, b, c, d, method }).run();
        const x = await device.queue.read(d);
        const error = Math.max(...expected[s].map((value, k) => Math.abs(value - x[k])));
        assert.ok(error < 1e-14, `${rows[0].length} rows by ${method}: ${error}`);
      }
    await device.close();
  });
