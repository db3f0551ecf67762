import { FAULT } from "../../ir/passes/check-indices.js";
import { orderedBefore } from "./order.js";
import type { Representation } from "./shader-program.js";

/**
 * A function that notes a failure in the record at `first` of a buffer, unless one of an element before this one is there: as in schedule/faults.ts,
 * without fences, which WGSL lacks.
 */
export function noteFailure(name: string, buffer: string, representation: Representation, first: string): string {
  const { lock, failed, site, index, element } = FAULT;
  const axes = ["i", "j", "k", "l"];
  const word = (n: number) => `&${buffer}[${n === 0 ? "first" : `first + ${n}`}]`;
  const isI32 = representation === "atomic_i32";
  const get = (n: number) => (isI32 ? `atomicLoad(${word(n)})` : `bitcast<i32>(atomicLoad(${word(n)}))`);
  const bits = (value: string) => (isI32 ? value : `bitcast<u32>(${value})`);
  const set = (n: number, value: string) => `atomicStore(${word(n)}, ${bits(value)});`;
  return [
    `fn ${name}(site: i32, index: i32, ${axes.map((axis) => `${axis}: i32`).join(", ")}) {`,
    `  let first = ${first};`,
    `  var done = false;`,
    `  while !done {`,
    `    let seen = ${get(lock)};`,
    `    if (seen & 1) == 0 {`,
    ...axes.map((_, n) => `      let known_${n} = ${get(element + n)};`),
    `      let earlier = ${get(failed)} != 0 && ${orderedBefore((n) => `known_${n}`, axes)};`,
    `      if earlier { done = ${get(lock)} == seen; }`,
    `      else if atomicCompareExchangeWeak(${word(lock)}, ${bits("seen")}, ${bits("seen + 1")}).exchanged {`,
    ...[[site, "site"] as const, [index, "index"] as const].map(([n, value]) => `        ${set(n, value)}`),
    ...axes.map((axis, n) => `        ${set(element + n, axis)}`),
    `        ${set(failed, "1")}`,
    `        ${set(lock, "seen + 2")}`,
    `        done = true;`,
    `      }`,
    `    }`,
    `  }`,
    `}`,
  ].join("\n");
}
