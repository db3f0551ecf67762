import { devices } from "isoform/set";
import { DEFAULTS, Poisson, type PoissonSettings } from "./poisson.js";

/*
 * Prints the table of the README: node dist/apps/poisson/table.js [devices] [sizes], such as "native 32,64,128".
 */

const METHODS: readonly { title: string; settings: Pick<PoissonSettings, "preconditioner" | "sweeps"> }[] = [
  { title: "none", settings: { preconditioner: "none", sweeps: 1 } },
  { title: "Jacobi, 1 sweep", settings: { preconditioner: "jacobi", sweeps: 1 } },
  { title: "3 sweeps", settings: { preconditioner: "jacobi", sweeps: 3 } },
  { title: "5 sweeps", settings: { preconditioner: "jacobi", sweeps: 5 } },
  { title: "multigrid, V(1,1)", settings: { preconditioner: "multigrid", sweeps: 1 } },
  { title: "V(2,2)", settings: { preconditioner: "multigrid", sweeps: 2 } },
];

const [names = "wasm", list = "32,64,128"] = process.argv.slice(2);
const set = await devices(names);
const row = (cells: readonly (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);

row(["cells", ...METHODS.map(({ title }) => title), "largest deviation", "slope"]);
row(Array<string>(METHODS.length + 3).fill("---:"));
let before: { size: number; error: number } | undefined;
for (const size of list.split(",").map(Number)) {
  const counts: number[] = [];
  let error = 0;
  for (const { settings } of METHODS) {
    const poisson = new Poisson(set, { ...DEFAULTS, precision: "strict", size, ...settings });
    counts.push((await poisson.solve({ tolerance: 1e-10 })).iterations);
    error = (await poisson.errors()).greatest;
    poisson.free();
  }
  const slope = before && Math.log(before.error / error) / Math.log((size + 1) / (before.size + 1));
  row([`${size}^3`, ...counts, error.toExponential(3), slope?.toFixed(3) ?? ""]);
  before = { size, error };
}
await set.close();
