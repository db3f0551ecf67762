import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Column } from "isoform/io";
import { writeTables } from "isoform/io";
import { readEpochs } from "../../../../apps/gsr/files/epochs.js";
import { requireInputs } from "../../../../apps/gsr/files/inputs.js";
import { readLaw } from "../../../../apps/gsr/files/scan-law.js";
import { readStars } from "../../../../apps/gsr/files/star-lists.js";
import { directionOf, starList } from "../../../../apps/gsr/scanning/stars.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-inputs-"));
after(() => rm(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const put = async (name: string, text: string): Promise<string> => {
  await writeFile(at(name), text);
  return at(name);
};

const HEAD = "source_id,ra,dec,phot_g_mean_mag,bp_rp\n";

test("stars come with their ids, places, magnitudes and standardised colours", async () => {
  const { list, colourless } = await readStars(
    await put("s.csv", `${HEAD}4318465066420528000,10,-20,12.5,1\n5,350.5,80,15,3\n6,0,90,6,\n`),
  );
  assert.deepEqual([list.count, list.ids, colourless], [3, BigInt64Array.of(4318465066420528000n, 5n, 6n), 1]);
  assert.deepEqual([...list.magnitudes], [12.5, 15, 6]);
  const [alpha, delta] = directionOf(list, 1);
  assert.ok(Math.abs((alpha * 180) / Math.PI - 350.5) < 1e-12 && Math.abs((delta * 180) / Math.PI - 80) < 1e-12);
  assert.deepEqual(
    [0, 1, 2].map((s) => list.rows[11 * s + 9]),
    [-1, 1, 0],
  );
});

const BAD_STARS: [text: string, message: RegExp][] = [
  [`${HEAD}1,10,-20,12,1\n2,10,91,12,1\n`, /s\.csv:3: dec is 91: it has from -90 to 90 degrees/],
  [`${HEAD}1,10,-20,,1\n`, /s\.csv:2: phot_g_mean_mag is missing: .*leave the row out/],
  [`${HEAD}1,nan,-20,12,1\n`, /s\.csv:2: ra is not a number of degrees/],
  [`${HEAD}1,10,-20,12,1\n1,11,-20,12,1\n`, /s\.csv:3: source_id 1 occurs twice, first in .*s\.csv:2: leave one out/],
  [`${HEAD}1.5,10,-20,12,1\n`, /s\.csv:2: source_id is not a whole number/],
  ["source_id,ra,dec\n1,2,3\n", /s\.csv: no column "phot_g_mean_mag": it has source_id, ra, dec/],
  [`${HEAD}1,a,-20,12,1\n`, /the column "ra" has texts, and numbers are needed/],
  [
    `# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n# - {name: source_id, datatype: int64}\n# - {name: ra, unit: rad, datatype: float64}\n# - {name: dec, datatype: float64}\n# - {name: phot_g_mean_mag, datatype: float64}\nsource_id,ra,dec,phot_g_mean_mag\n1,1,1,1\n`,
    /the column ra has the unit "rad", and isoform reads it in deg: convert it/,
  ],
];
for (const [text, message] of BAD_STARS)
  test(`a list of stars is refused: ${message.source}`, async () => {
    await assert.rejects(readStars(await put("s.csv", text)), message);
  });

const EPOCHS = "source_id,transit_id,obs_time_tcb,centroid_pos_al,centroid_pos_error_al,parallax_factor_al,scan_pos_angle,outlier_flag\n";
const DAY = 2_457_936.875;

test("epoch astrometry becomes rows of its star: flagged and non-finite ones are counted", async () => {
  const path = await put(
    "e.csv",
    `${EPOCHS}7,1,${DAY + 365.25},2,0.5,0.25,30,0\n8,2,${DAY},1,0.1,-0.5,90,0\n7,3,${DAY},1,0.1,0.5,90,1\n7,4,${DAY},nan,0.1,0.5,90,0\n7,5,${DAY},3,0.2,0,0,0\n`,
  );
  const epochs = await readEpochs(path);
  assert.deepEqual([epochs.ids, [...epochs.starRow], epochs.flagged, epochs.notFinite], [BigInt64Array.of(7n, 8n), [0, 2, 3], 1, 1]);
  const expected = [0.5, Math.sqrt(3) / 2, 0.25, 0.5, Math.sqrt(3) / 2].map((value) => value / 500);
  for (const [k, value] of expected.entries()) assert.ok(Math.abs(epochs.coefficients[k] - value) < 1e-15, `${k}`);
  assert.deepEqual([...epochs.knownTerms], [4, 15, 10]);
});

test("a row a transit has lists by CCD, times in nanoseconds, and the flag of used observations", async () => {
  const offsets = [0, 2, 3];
  const list = (name: string, values: number[], unit?: string): Column => ({
    name,
    type: "f64",
    values: Float64Array.from(values),
    offsets,
    ...(unit ? { unit } : {}),
  });
  const nanoseconds = (DAY - 2_455_197.5) * 86_400e9;
  const columns: Column[] = [
    { name: "transit_id", type: "i64", values: BigInt64Array.of(1n, 2n) },
    list("obs_time_tcb", [nanoseconds, nanoseconds + 365.25 * 86_400e9, nanoseconds], "ns"),
    list("centroid_pos_al", [1, 2, 3], "mas"),
    list("centroid_pos_error_al", [1, 1, 1], "mas"),
    { name: "parallax_factor_al", type: "f64", values: Float64Array.of(0.5, -0.5) },
    { name: "scan_pos_angle", type: "f64", values: Float64Array.of(90, 0), unit: "deg" },
    { name: "used_by_agis_al", type: "bool", values: Uint8Array.of(1, 1, 0), offsets },
  ];
  for (const name of ["e.vot", "e.fits"]) {
    await writeTables(at(name), [{ columns }]);
    const { ids, knownTerms, coefficients, flagged } = await readEpochs(at(name));
    assert.deepEqual([[...ids], [...knownTerms], flagged], [[1n], [1, 2], 1]);
    const years = coefficients[8] * 1000;
    assert.ok(Math.abs(years - 1) < 1e-12, `${years}`);
  }
  await writeTables(at("e.fits"), [
    { columns: columns.map((column) => (column.name === "centroid_pos_al" ? { ...column, offsets: [0, 1, 3] } : column)) },
  ]);
  await assert.rejects(readEpochs(at("e.fits")), /e\.fits, row 1: centroid_pos_al has 1 values, and other lists of the row 2/);
});

test("epoch astrometry is refused with its row", async () => {
  const star = { alpha: 0, sinDelta: 0, magnitude: 10, colour: 0 };
  const stars = { ...starList([star]), ids: BigInt64Array.of(7n) };
  const bad: [text: string, message: RegExp][] = [
    [
      `${EPOCHS}7,16,${DAY},1,1,0,0,0\n5,17,${DAY},1,1,0,0,0\n`,
      /e\.csv:3: an observation of no star: transit 17, source_id 5 is not in stars\.ecsv/,
    ],
    [`${EPOCHS}7,16,${DAY},1,0,0,0,0\n`, /e\.csv:2: centroid_pos_error_al is 0: an error is greater than 0/],
    ["obs_time_tcb\n1\n", /no column "centroid_pos_al"/],
  ];
  for (const [text, message] of bad) await assert.rejects(readEpochs(await put("e.csv", text), stars, "stars.ecsv"), message);
  const two = { ...starList([star, star]), ids: BigInt64Array.of(7n, 8n) };
  await assert.rejects(
    readEpochs(await put("e.csv", EPOCHS.replace("source_id,", "").concat(`1,${DAY},1,1,0,0,0\n`)), two, "stars.ecsv"),
    /no column "source_id", and stars\.ecsv has 2 stars: add it/,
  );
});

const LAW = "jd_time,ra_fov1,dec_fov1,ra_fov2,dec_fov2,other\n";

test("a scanning law is read from gzip, and refused with its line", async () => {
  const row = (seconds: number) => `${1000 + seconds / 86400},${(106.5 + seconds / 60) % 360},0,${(seconds / 60) % 360},0,x\n`;
  const rows = Array.from({ length: 130 }, (_, n) => row(10 * n));
  await writeFile(at("l.csv.gz"), gzipSync(LAW + rows.join("")));
  const law = await readLaw(at("l.csv.gz"));
  assert.ok(Math.abs(law.duration - 1290) < 1e-4 && law.start === 1000);
  assert.deepEqual([...law.covered!.subarray(0, 3)], [1, 1, 0]);
  // Z is the pole, and the spin 1/60 degree a second.
  assert.ok(Math.abs(law.nodes[2] - 1) < 1e-12 && Math.abs(law.nodes[10] - Math.PI / 180 / 60) < 1e-12);
  const bad: [text: string, message: RegExp][] = [
    [LAW.replace("ra_fov2", "ra_2") + rows.join(""), /l\.csv: no column "ra_fov2"/],
    [LAW + rows[0], /l\.csv: a scanning law needs two rows or more/],
    [LAW + rows[0] + rows[0], /l\.csv:3: jd_time is 1000, after 1000: times have to rise/],
    [LAW + rows[0] + "1000.1,abc,0,0,0,x\n", /l\.csv:3: "abc" in the column "ra_fov1" is not a value of the type f64/],
    [
      LAW + rows[0] + "1000.0001,0,0,106.5,3,x\n",
      /l\.csv:3: the fields are 106\.4767 degrees apart: Gaia's are 106\.5, fov1 the preceding one/,
    ],
    [
      LAW + rows.map((text, n) => (n === 30 ? `${1000 + 300 / 86400},${106.5 + 5.5},0,5.5,0,x\n` : text)).join(""),
      /l\.csv:32: the axes are 1799\.99 arcseconds from an even turn within 600 s/,
    ],
  ];
  for (const [text, message] of bad) await assert.rejects(readLaw(await put("l.csv", text)), message);
});

test("options that do not go together are refused", () => {
  const refused = (words: object, message: RegExp) => assert.throws(() => requireInputs({ frame: true, ...words }), message);
  refused({ epochs: "e.csv", years: 5 }, /--years is not for --epochs, whose file has the observations: leave it out/);
  refused({ epochs: "e.csv", scanLaw: "l.csv" }, /--scan-law is not for --epochs/);
  refused({ epochs: "e.csv", robust: true }, /--robust is not for --epochs/);
  refused({ epochs: "e.csv", gib: 1 }, /--gib is not for --epochs/);
  refused({ epochs: "e.csv", frame: false }, /--no-frame is not for --epochs/);
  refused({ epochs: "e.csv", stars: 20 }, /--epochs observes the stars of its file: give --stars a list of stars/);
  refused({ scanLaw: "l.csv", years: 5 }, /--years is not for --scan-law, whose file says how long it is/);
  refused({ covariances: "stars", out: "x.fits" }, /--covariances come from random probes: add --errors probes 50/);
  refused({ covariances: "stars", errors: { probes: 5 } }, /--covariances go into the file of the solution: add --out/);
});
