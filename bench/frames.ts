import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { f32, kernel, range, view, type Device } from "isoform";
import { hooks } from "isoform/hooks";
import { devices, type DeviceSet } from "isoform/set";
import type { Show } from "../site/src/exhibit.js";
import { tunnel } from "../site/src/tunnel.js";
import { commandLine, parseArgs } from "./command-line.js";
import { FramesClock } from "./frames-clock.js";
import { openBrowser, standInCanvas } from "./frames-browser.js";
import { quantile } from "./interleave.js";

/*
 * Frames of the site's wind tunnel on WebGPU, drawn as the page draws them, on a canvas that nobody sees:
 *   node dist/bench/frames.js [--sizes 1024x512,512x256] [--steps 1,8,32] [--frames 300] [--copied 67108864] [--json F]
 * A frame is so many steps and the picture, and two of them are under way at once. `--copied` is the elements of the copy that they are held against.
 */

const { values: options } = parseArgs({
  options: {
    sizes: { type: "string", default: "1024x512,512x256" },
    steps: { type: "string", default: "1,8,32" },
    frames: { type: "string", default: "300" },
    copied: { type: "string", default: String(2 ** 26) },
    json: { type: "string" },
  },
});
const frames = Number(options.frames);
/** Before anything counts. */
const WARM = 20;
/** A pixel's value is read and its colour written. */
const PICTURE_BYTES = 8;
const RATE = 60;
const COPIES = 10;

interface Row {
  cells: string;
  /** Of a frame. */
  steps: number;
  /** Milliseconds of a frame by the GPU's clock where it has one, median; else absent. */
  gpu?: number;
  /** Milliseconds in which the page's thread hands a frame over, median and 90th percentile. */
  cpu: number;
  cpu90: number;
  /** Milliseconds from one frame to the next by the wall clock, mean, with nothing to wait for but the GPU. */
  wall: number;
  /** Bytes of a frame by the counting rule, the picture's included. */
  bytes: number;
  /** Bytes over the GPU's time, or the wall clock's where there is none. */
  gbs: number;
  /** Bandwidth that the frame's bytes need 60 times a second. */
  needed: number;
}

openBrowser();
const set = await devices("webgpu");
const [{ device }] = set.locals;
const copy = await copyBandwidth(device, Number(options.copied));
console.log(`${device.label}: copies ${copy.toFixed(1)} GB/s`);
const rows: Row[] = [];
for (const size of options.sizes.split(","))
  for (const steps of options.steps.split(",").map(Number)) {
    const row = await measure(set, size, steps);
    rows.push(row);
    console.log(
      `${row.cells}, ${steps} steps a frame: GPU ${row.gpu?.toFixed(3) ?? "?"} ms, page ${row.cpu.toFixed(3)} ms (90 %: ${row.cpu90.toFixed(3)}), ` +
        `wall ${row.wall.toFixed(3)} ms, ${(row.bytes / 1e6).toFixed(1)} MB, ${row.gbs.toFixed(1)} GB/s; 60 a second need ${row.needed.toFixed(1)} GB/s`,
    );
  }
if (options.json) {
  const { label, versions } = device;
  const report = { command: commandLine("dist/bench/frames.js"), device: label, versions, node: process.version, frames, copy, rows };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
}
await set.close();

async function measure(set: DeviceSet, cells: string, steps: number): Promise<Row> {
  const [nx, ny] = cells.split("x").map(Number);
  // Launches of graphs are reported to those who were there when they were captured.
  let counted = 0;
  const detach = hooks.attach({
    endKernel: ({ launches }) => void (counted += launches.reduce((sum, { cost }) => sum + cost.bytes, 0)),
  });
  const show = await tunnel.open(set, standInCanvas(nx, ny));
  // Fields go round: two frames have captured all that there is.
  await show.frame(steps);
  await show.frame(steps);
  counted = 0;
  await show.frame(steps);
  const bytes = counted + PICTURE_BYTES * nx * ny;
  detach();

  await run(show, steps, WARM);
  const clock = FramesClock.isOffered(device) ? new FramesClock(device, 2 * frames) : undefined;
  const { wall, handing } = await run(show, steps, frames, clock);
  const marks = await clock?.read();
  show.free();
  const gpu =
    marks &&
    quantile(
      Array.from({ length: frames }, (_, n) => (marks[2 * n + 1] - marks[2 * n]) / 1e6),
      0.5,
    );
  return {
    cells,
    steps,
    gpu,
    cpu: quantile(handing, 0.5),
    cpu90: quantile(handing, 0.9),
    wall,
    bytes,
    gbs: bytes / (gpu ?? wall) / 1e6,
    needed: (bytes * RATE) / 1e9,
  };
}

/** Runs frames as the page does, `show.ahead` of them under way. All times are in milliseconds. */
async function run(show: Show, steps: number, count: number, clock?: FramesClock): Promise<{ wall: number; handing: number[] }> {
  const underWay: Promise<number>[] = [];
  const handing: number[] = [];
  const start = performance.now();
  for (let n = 0; n < count; n++) {
    if (underWay.length >= show.ahead) await underWay.shift();
    clock?.mark();
    const begin = performance.now();
    underWay.push(show.frame(steps));
    handing.push(performance.now() - begin);
    clock?.mark();
  }
  await Promise.all(underWay);
  return { wall: (performance.now() - start) / count, handing };
}

/** GB/s of the best of several copies by a kernel. */
async function copyBandwidth(device: Device, elements: number): Promise<number> {
  const copying = kernel("copy", { from: view(f32), to: view(f32) }, ({ from, to }, i) => {
    to[i] = from[i];
  });
  const [from, to] = [device.array(f32, elements), device.array(f32, elements)];
  const launch = device.prepare(copying, { from, to }, range(elements));
  let best = Infinity;
  for (let n = 0; n < COPIES; n++) {
    const begin = device.queue.record();
    device.queue.submit(launch);
    best = Math.min(best, await device.queue.record().since(begin));
  }
  for (const each of [launch, from, to]) each.free();
  return launch.cost.bytes / best / 1e9;
}
