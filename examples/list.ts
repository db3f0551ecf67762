// Elements that append to a list: collisions of balls, found by one kernel, gone over by the next on the device, and by the host.
import { f64, i32, kernel, list, open, range, scatter, struct, vec3, view } from "isoform";

const Hit = struct("Hit", { a: i32, b: i32, at: vec3 });

/** Ball i against those after it: none has more than 16 of them near. */
const collide = kernel(
  "collide",
  { x: view(vec3), radius: f64, hits: list(Hit, 16) },
  ({ x, radius, hits }, i) => {
    for (let j = i + 1; j < x.length; j++) {
      const apart = x[j].sub(x[i]);
      if (apart.dot(apart) < 4 * radius * radius) hits.push(Hit({ a: i, b: j, at: x[i].add(apart.scale(0.5)) }));
    }
  },
  () => [Hit],
);

const touched = kernel("touched", { count: view(i32), a: view(i32), b: view(i32), hits: scatter(i32) }, ({ count, a, b, hits }, k) => {
  if (k < count[0]) {
    hits.add(a[k], 1);
    hits.add(b[k], 1);
  }
});

const device = await open(process.argv[2] ?? "wasm");
const n = 1000;
const radius = 0.02;
const places = Array.from({ length: n }, (_, i) => vec3((i * 0.618) % 1, (i * 0.414) % 1, (i * i * 0.001) % 1));
const x = device.from(vec3, places);
const hits = device.list(Hit, 2000);
const { hits: length } = await device.run(collide, { x, radius, hits }, range(n));

const expected = places.flatMap((p, a) =>
  places.flatMap((q, b) => (a < b && q.sub(p).dot(q.sub(p)) < 4 * radius * radius ? [[a, b]] : [])),
);
const [first, second] = await Promise.all([hits.view.a, hits.view.b].map((view) => device.queue.read(view)));
console.log(`right: ${length === expected.length && expected.every(([a, b], k) => first[k] === a && second[k] === b)}`); // -> right: true

// The next kernel takes the count from the device: nobody waits in between.
const balls = device.array(i32, n);
await device.run(touched, { count: hits.count, a: hits.view.a, b: hits.view.b, hits: balls }, range(hits.capacity));
const total = (await device.queue.read(balls)).reduce((sum, k) => sum + k, 0);
console.log(`two of each: ${total === 2 * length}`); // -> two of each: true
await device.close();
