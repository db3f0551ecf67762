// Connected components of a graph, both ways: nodes that point to lower ones until all edges agree, once by a scatter, whose bits are the same everywhere, and
// once by atomic operations, which follow each edge to its end at once.
import { atomic, i32, kernel, max, open, range, scatter, view, type View } from "isoform";

/** Each edge pulls the higher of its two roots to the lower one; the least of all pulls wins. */
const pull = kernel(
  "pull",
  { p: view(i32), a: view(i32), b: view(i32), q: scatter(i32, 1, "min"), open: max(i32) },
  ({ p, a, b, q, open }, i) => {
    const [high, low] = [Math.max(p[a[i]], p[b[i]]), Math.min(p[a[i]], p[b[i]])];
    q.min(high, low);
    open.max(high > low ? 1 : 0);
  },
);
const follow = kernel("follow", { q: view(i32), p: view(i32) }, ({ q, p }, node) => {
  let root = q[node];
  while (q[root] !== root) root = q[root];
  p[node] = root;
});

/** Joins the trees of both ends: the higher root points to the lower one, and whom it pointed to before is joined with that, too. */
const join = kernel("join", { a: view(i32), b: view(i32), parent: atomic(i32) }, ({ a, b, parent }, i) => {
  let [u, v] = [a[i], b[i]];
  while (u !== v) {
    const [high, low] = [Math.max(u, v), Math.min(u, v)];
    const before = parent.min(high, low);
    u = before === high ? low : before;
    v = low;
  }
});

const device = await open(process.argv[2] ?? "wasm");
const nodes = 20_000;
const ends = (seed: number): Int32Array =>
  Int32Array.from({ length: 15_000 }, (_, i) => Math.imul(i * 2 + seed, 0x9e3779b1) >>> 17).map((node) => node % nodes);
const edges = { a: device.from(i32, ends(1)), b: device.from(i32, ends(2)) };
const itself = (): View<"i32", 1> =>
  device.from(
    i32,
    Int32Array.from({ length: nodes }, (_, node) => node),
  );

const [p, q] = [itself(), itself()];
let rounds = 0;
for (let more = true; more; rounds++) {
  const found = await device.run(pull, { p, ...edges, q }, range(edges.a.size));
  await device.run(follow, { q, p }, range(nodes));
  more = found.open > 0;
}

const parent = itself();
await device.run(join, { ...edges, parent }, range(edges.a.size), { precision: "fast" });
const roots = itself();
await device.run(follow, { q: parent, p: roots }, range(nodes));

const [byScatter, byAtomics] = [await device.queue.read(p), await device.queue.read(roots)];
console.log(`same components: ${byScatter.every((root, node) => root === byAtomics[node])}`); // -> same components: true
console.log(`${new Set(byScatter).size} components, at most 12 rounds: ${rounds <= 12}`); // -> 6845 components, at most 12 rounds: true
await device.close();
