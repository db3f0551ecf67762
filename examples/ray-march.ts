// A sphere on a plane, drawn by marching along rays: helpers that call helpers and return several values, written into bytes.
import { i32, kernel, open, range, u8, view } from "isoform";

const length = (x: number, y: number, z: number): number => Math.sqrt(x * x + y * y + z * z);
/** Distance from the nearest surface. */
const scene = (x: number, y: number, z: number): number => Math.min(length(x, y, z) - 1, y + 1);
const normal = (x: number, y: number, z: number): [number, number, number] => {
  const e = 1e-3;
  const nx = scene(x + e, y, z) - scene(x - e, y, z);
  const ny = scene(x, y + e, z) - scene(x, y - e, z);
  const nz = scene(x, y, z + e) - scene(x, y, z - e);
  const scale = 1 / length(nx, ny, nz);
  return [nx * scale, ny * scale, nz * scale];
};

const render = kernel(
  "render",
  { width: i32, height: i32, image: view(u8, 3) },
  ({ width, height, image }, row, column) => {
    const [u, v] = [(2 * (column + 0.5) - width) / height, (height - 2 * (row + 0.5)) / height];
    const scale = 1 / length(u, v, 1.5);
    const [dx, dy, dz] = [u * scale, v * scale, 1.5 * scale];
    let way = 0;
    let hit = false;
    for (let k = 0; k < 96 && way < 20; k++) {
      const step = scene(way * dx, way * dy, -3 + way * dz);
      hit = step < 1e-4;
      if (hit) break;
      way += step;
    }
    let shade = 0.1;
    if (hit) {
      const [nx, ny, nz] = normal(way * dx, way * dy, -3 + way * dz);
      shade = Math.min(1, Math.max(0.1, 0.577 * (nx + ny - nz)));
    }
    image[row][column][0] = Math.floor(255 * shade) | 0;
    image[row][column][1] = Math.floor(200 * shade) | 0;
    image[row][column][2] = hit ? 180 : 20;
  },
  () => [length, scene, normal],
);

const device = await open(process.argv[2] ?? "wasm");
const [width, height] = [32, 16];
const image = device.array(u8, [height, width, 3]);
await device.run(render, { width, height, image }, range(height, width));

const red = (await device.queue.read(image)).filter((_, k) => k % 3 === 0);
const row = red.slice(8 * width, 9 * width);
console.log([...row].map((value) => " .:-=+*#%@"[Math.floor(value / 25.6)]).join("")); // -> :-=+*##
await device.close();
