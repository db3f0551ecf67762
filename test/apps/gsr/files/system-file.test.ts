import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { NewGroup } from "isoform/io";
import { hdf5Missing, writeHdf5 } from "isoform/io";
import { readSystem } from "../../../../apps/gsr/files/system-file.js";
import { instrumentLayout, sections, type Shape } from "../../../../apps/gsr/shape.js";
import { main } from "../../../cli/isoform.js";
import { sequence } from "../../../random/data.js";

/* Systems that other programs have made. */

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-system-"));
after(() => rm(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const gsr = (...words: readonly string[]) => spawnSync(process.execPath, [main, "gsr", "--no-kernels", ...words], { encoding: "utf8" });
const missing = (await hdf5Missing())?.reason ?? false;

const shape: Shape = { stars: 6, observations: 400, knots: 9, pixels: 3, intervals: 1, ccds: 1, globals: 1 };
const { attitude, instrument, unknowns } = sections(shape);
const random = sequence(7);
const reals = (length: number): Float64Array => Float64Array.from({ length }, () => random() - 0.5);
const below = (length: number, end: number): Int32Array => Int32Array.from({ length }, () => Math.floor(random() * end));

const rows = shape.observations;
const arrays = {
  astrometric: reals(5 * rows),
  attitude: reals(12 * rows),
  instrument: reals(6 * rows),
  global: reals(rows),
  known_terms: reals(rows),
  star: below(rows, shape.stars).sort(),
  knot: below(rows, shape.knots - 3),
  column: below(6 * rows, instrumentLayout(shape).size),
};
const constraints = {
  row_start: Int32Array.of(0, 3, 5),
  column: Int32Array.of(0, attitude + 2, instrument + 4, 7, instrument + 9),
  value: Float64Array.of(1, -2, 3, 0.5, 4),
};

const WIDTHS: Readonly<Record<string, number>> = { astrometric: 5, attitude: 12, instrument: 6, column: 6 };
const tree = (
  changed: Readonly<Record<string, Float64Array | Int32Array | undefined>> = {},
  attributes: Readonly<Record<string, number>> = {},
  bound: Readonly<Record<string, Float64Array | Int32Array>> = constraints,
): NewGroup => {
  const { stars, knots, pixels, intervals, ccds } = shape;
  const data = Object.entries({ ...arrays, ...changed }).filter((entry): entry is [string, Float64Array | Int32Array] => !!entry[1]);
  const datasets = Object.fromEntries(
    data.map(([name, values]) => {
      const width = WIDTHS[name];
      return [name, { shape: width ? [values.length / width, width] : [values.length], data: values }];
    }),
  );
  const groups = {
    constraints: {
      datasets: Object.fromEntries(Object.entries(bound).map(([name, values]) => [name, { shape: [values.length], data: values }])),
    },
  };
  const sizes = Object.entries({ stars, knots, pixels, intervals, ccds, ...attributes }).filter(([, value]) => !Number.isNaN(value));
  return { groups: { system: { datasets, groups, attributes: Object.fromEntries(sizes) } } };
};

/** All rows with their known terms, constraints last. */
function* matrix(): Generator<{ entries: [column: number, value: number][]; term: number }> {
  for (let i = 0; i < rows; i++) {
    const entries: [number, number][] = [];
    for (let k = 0; k < 5; k++) entries.push([5 * arrays.star[i] + k, arrays.astrometric[5 * i + k]]);
    for (let k = 0; k < 12; k++)
      entries.push([attitude + shape.knots * Math.floor(k / 4) + arrays.knot[i] + (k % 4), arrays.attitude[12 * i + k]]);
    for (let k = 0; k < 6; k++) entries.push([instrument + arrays.column[6 * i + k], arrays.instrument[6 * i + k]]);
    entries.push([unknowns - 1, arrays.global[i]]);
    yield { entries, term: arrays.known_terms[i] };
  }
  const { row_start, column, value } = constraints;
  for (let r = 0; r + 1 < row_start.length; r++) {
    const entries: [number, number][] = [];
    for (let e = row_start[r]; e < row_start[r + 1]; e++) entries.push([column[e], value[e]]);
    yield { entries, term: 0 };
  }
}

test(
  "a system from a file is solved: its residual is orthogonal to all columns, with the same strict bits on one member and two",
  { skip: missing },
  async () => {
    await writeHdf5(at("a.h5"), tree(), "new");
    const solve = (devices: string, name: string, ...words: string[]) =>
      gsr("--system", at("a.h5"), "--devices", devices, "--precision", "strict", "--out", at(name), ...words);
    for (const form of ["fused", "ordered"]) {
      const one = solve("js", `${form}1.json`, "--form", form);
      assert.equal(one.status, 0, one.stderr);
      assert.match(one.stdout, /system of .*a\.h5, (fused|ordered) form, strict: 6 stars, 400 observations, 2 constraints, /);
      const two = solve("js*2", `${form}2.json`, "--form", form);
      assert.equal(two.status, 0, two.stderr);
      assert.ok((await readFile(at(`${form}1.json`))).equals(await readFile(at(`${form}2.json`))));
      const { x } = JSON.parse(await readFile(at(`${form}1.json`), "utf8")) as { x: number[] };
      assert.equal(x.length, unknowns);
      const gradient = new Float64Array(unknowns);
      for (const { entries, term } of matrix()) {
        const residual = term - entries.reduce((sum, [column, value]) => sum + value * x[column], 0);
        for (const [column, value] of entries) gradient[column] += value * residual;
      }
      assert.ok(Math.max(...gradient.map(Math.abs)) < 1e-8, `${Math.max(...gradient.map(Math.abs))}`);
    }
  },
);

test("a run over a file is saved, goes on with it, and refuses another", { skip: missing }, async () => {
  await writeHdf5(at("b.h5"), tree(), "new");
  const whole = gsr("--system", at("b.h5"), "--devices", "js", "--precision", "strict", "--out", at("whole.json"));
  assert.equal(whole.status, 0, whole.stderr);
  const part = gsr(
    "--system",
    at("b.h5"),
    "--devices",
    "js",
    "--precision",
    "strict",
    "--iterations",
    "9",
    "--checkpoint",
    at("state"),
    "--every",
    "4",
  );
  assert.equal(part.status, 0, part.stderr);
  const on = gsr("--restart", at("state"), "--iterations", "10000", "--devices", "js*2", "--out", at("on.json"));
  assert.equal(on.status, 0, on.stderr);
  assert.ok((await readFile(at("whole.json"))).equals(await readFile(at("on.json"))));
  await writeHdf5(at("b.h5"), tree({ known_terms: reals(rows) }), "new");
  const other = gsr("--restart", at("state"), "--devices", "js");
  assert.equal(other.status, 2);
  assert.match(other.stderr, /b\.h5 is not the file that the checkpoint was made with/);
});

const changed = <A extends Float64Array | Int32Array>(values: A, at: number, value: number): A => {
  const copy = values.slice() as A;
  copy[at] = value;
  return copy;
};

const BAD: [what: NewGroup, message: RegExp][] = [
  [{}, /has no group \/system/],
  [tree({ knot: undefined }), /it has no dataset "knot"/],
  [tree({}, { stars: NaN }), /it has no attribute "stars": it needs stars, knots, pixels, intervals, ccds/],
  [tree({}, { pixels: 2.5 }), /the attribute "pixels" is 2\.5: give a whole number/],
  [tree({}, { knots: 3 }), /the attribute "knots" is 3, and a row has 4/],
  [tree({}, { stars: 3 }), /star\[\d+\] is 3, and it can be from 0 to 2/],
  [tree({ star: changed(arrays.star, rows - 1, 0) }), /star\[399\] is 0 after 5: rows lie in the order of their stars/],
  [tree({ knot: changed(arrays.knot, 17, 6) }), /knot\[17\] is 6, and it can be from 0 to 5/],
  [tree({ column: changed(arrays.column, 6 * 3 + 2, -1) }), /column\[3\]\[2\] is -1, and it can be from 0 to \d+/],
  [tree({ attitude: changed(arrays.attitude, 12 * 5 + 7, NaN) }), /attitude\[5\]\[7\] is NaN/],
  [tree({ known_terms: arrays.known_terms.slice(1) }), /the dataset "known_terms" is \[399\], and \[400\] is expected/],
  [tree({ knot: Float64Array.from(arrays.knot) }), /the dataset "knot" has f64: give i32/],
  [tree({ astrometric: Int32Array.from({ length: 5 * rows }, () => 1) }), /the dataset "astrometric" has i32: give f64/],
  [
    tree({}, {}, { ...constraints, column: changed(constraints.column, 1, unknowns - 1) }),
    /constraints\/column\[1\] is \d+, and constraints bind the unknowns 0 to \d+/,
  ],
  [
    tree({}, {}, { ...constraints, row_start: Int32Array.of(0, 6, 5) }),
    /constraints\/row_start must begin with 0, never fall, and end with the 5 entries/,
  ],
];
for (const [what, message] of BAD)
  test(`a file is refused: ${message.source}`, { skip: missing }, async () => {
    await writeHdf5(at("bad.h5"), what, "new");
    await assert.rejects(readSystem(at("bad.h5")), (error: Error) => {
      assert.match(error.message, message);
      assert.match(error.message, /bad\.h5/);
      return true;
    });
  });

for (const words of [["--stars", "20"], ["--no-frame"], ["--robust"], ["--generator", "scanning"], ["--gib", "1"]])
  test(`${words[0]} does not go with --system`, { skip: missing }, async () => {
    await writeHdf5(at("c.h5"), tree(), "new");
    const { status, stderr } = gsr("--system", at("c.h5"), "--devices", "js", ...words);
    assert.equal(status, 2);
    assert.match(stderr, new RegExp(`${words[0]} is not for --system, whose file has the rows of the system: leave it out`));
  });
