/* Runs a long kernel on two devices `wasm`, one after the other, and prints what it computes. To be run as a process of its own. */
import { f64, open, range } from "isoform";
import { kernelFromIR } from "../../../src/kernel/declare/from-ir.js";
import { add, f, i, kernel, load, mul, store, view as param } from "../../ir/build.js";

const statements = Array.from({ length: 200 }, (_, n) => store("y", [i], add(mul(load("y", [i]), f(0.5)), f(n))));
const long = kernelFromIR(kernel([param("y")], statements));

for (const length of [5, 5]) {
  const device = await open("wasm");
  const y = device.array(f64, length);
  await device.run(long, { y }, range(length), { precision: "strict" });
  console.log(JSON.stringify([...(await device.queue.read(y))]));
  await device.close();
}
