// A sphere on a plane, drawn by marching along rays: helpers that take and give vectors, written into bytes.
import { i32, kernel, open, range, u8, vec3, view, type Vec3 } from "isoform";

/** Distance from the nearest surface. */
const scene = (p: Vec3): number => Math.min(p.length() - 1, p.y + 1);
const normal = (p: Vec3): Vec3 => {
  const [x, y, z] = [vec3(1e-3, 0, 0), vec3(0, 1e-3, 0), vec3(0, 0, 1e-3)];
  return vec3(scene(p.add(x)) - scene(p.sub(x)), scene(p.add(y)) - scene(p.sub(y)), scene(p.add(z)) - scene(p.sub(z))).normalize();
};

const render = kernel(
  "render",
  { width: i32, height: i32, image: view(u8, 3) },
  ({ width, height, image }, row, column) => {
    const [u, v] = [(2 * (column + 0.5) - width) / height, (height - 2 * (row + 0.5)) / height];
    const [eye, ray] = [vec3(0, 0, -3), vec3(u, v, 1.5).normalize()];
    let way = 0;
    let hit = false;
    for (let k = 0; k < 96 && way < 20; k++) {
      const step = scene(eye.add(ray.scale(way)));
      hit = step < 1e-4;
      if (hit) break;
      way += step;
    }
    let shade = 0.1;
    if (hit) shade = Math.min(1, Math.max(0.1, 0.577 * normal(eye.add(ray.scale(way))).dot(vec3(1, 1, -1))));
    image[row][column][0] = Math.floor(255 * shade) | 0;
    image[row][column][1] = Math.floor(200 * shade) | 0;
    image[row][column][2] = hit ? 180 : 20;
  },
  () => [vec3, scene, normal],
);

const device = await open(process.argv[2] ?? "wasm");
const [width, height] = [32, 16];
const image = device.array(u8, [height, width, 3]);
await device.run(render, { width, height, image }, range(height, width));

const red = (await device.queue.read(image)).filter((_, k) => k % 3 === 0);
const row = red.slice(8 * width, 9 * width);
console.log([...row].map((value) => " .:-=+*#%@"[Math.floor(value / 25.6)]).join("")); // -> :-=+*##
await device.close();
