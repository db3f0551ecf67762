import { rmSync } from "node:fs";
import { join } from "node:path";
import { dense } from "../../src/domain/index.js";
import { writeImage } from "../../src/io/index.js";
import { readCheckpoint, writeCheckpoint } from "../../src/io/checkpoint.js";
import { f64 } from "../../src/kernel/declare/params.js";
import { devices } from "../../src/set/index.js";
import { findNan } from "../../src/skeleton/run/nan.js";

/*
 * A program for memory.test.ts: fills, searches, writes and restores one field of so many planes of 256 x 256 f64 in a folder, and prints the most
 * memory that this took beyond the field, in bytes, as JSON.
 */

const [, , folder, planes] = process.argv;
const set = await devices("js*2");
const grid = dense(set, [256, 256, Number(planes)]);
const field = grid.field("f", f64);
// Touches all memory of the field, before a value is read.
await field.fill(1);
await field.get([0, 0, 0]);
const before = process.memoryUsage().rss;
await field.fill((x, y, z) => x + 2 * y + 3 * z);
const [state, image] = ["state", "image.vti"].map((name) => join(folder, name));
await writeCheckpoint(state, field);
await field.fill(0);
await (await readCheckpoint(state)).restore(field);
rmSync(state);
await writeImage(image, [field]);
const found = await findNan(field);
const last = await field.get([255, 255, Number(planes) - 1]);
console.log(JSON.stringify({ beyond: process.resourceUsage().maxRSS * 1024 - before, last, found: found !== undefined }));
await set.close();
