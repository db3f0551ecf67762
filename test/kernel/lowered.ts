import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { printKernel } from "../../src/ir/kernel-text.js";
import { verify } from "../../src/ir/verify.js";
import { range } from "../../src/device/launch/policy.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { KernelError } from "../../src/base/errors.js";
import type { Kernel } from "../../src/kernel/declare/kernel.js";
import { lower } from "../../src/kernel/lower/lower.js";
import { evaluate } from "../random/evaluate.js";
import { copyOf, grid, type Memory } from "../random/memory.js";
import { callPlainly } from "../random/plain.js";

type Fixed = Readonly<Record<string, number | boolean>>;

// The tests' kernels have parameters of many kinds; here their names do not matter.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyKernel = Kernel<any>;

/** The body of the kernel's IR before any pass, one statement a line. */
export function lowered(kernel: AnyKernel, fixed: Fixed = {}): string {
  const ir = lower(kernel, fixed);
  verify(ir);
  return bodyOf(printKernel(ir));
}

/** The same after the passes. */
export const optimised = (kernel: AnyKernel, fixed: Fixed = {}): string => bodyOf(printKernel(compileKernel(kernel, fixed).ir));

const DECLARATION = /^ {2}(scalar|view|scatter|reduce|table) \w+: /;
const bodyOf = (text: string): string =>
  text
    .split("\n")
    .slice(1)
    .filter((line) => line && !DECLARATION.test(line))
    .map((line) => line.slice(2))
    .join("\n");

/** The error with which the kernel is refused. */
export function refusal(kernel: AnyKernel, fixed: Fixed = {}): KernelError {
  try {
    compileKernel(kernel, fixed);
  } catch (error) {
    assert(error instanceof KernelError, `${error}`);
    return error;
  }
  assert.fail("the kernel is accepted");
}

/** What stands in the author's file where the error points. */
export function pointedAt({ location }: KernelError): string {
  assert.match(location.file, /\/test\/kernel\/[\w-]+\.test\.ts$/);
  return readFileSync(location.file, "utf8")
    .split("\n")
    [location.line - 1].slice(location.column - 1);
}

/** Asserts that the kernel means the same compiled and called as plain TypeScript, over `n` elements. Returns its memory afterwards. */
export function agrees(kernel: AnyKernel, memory: Memory, n = 3, scalars: Fixed = {}): Memory {
  const [compiled, plain] = [copyOf(memory), copyOf(memory)];
  const results = evaluate(lower(kernel, scalars), range(n), compiled, scalars);
  assert.deepEqual(results, callPlainly(kernel, range(n), plain, scalars));
  // As lists of numbers: bits of NaN may differ.
  for (const name of Object.keys(memory)) assert.deepEqual([...compiled[name].data], [...plain[name].data]);
  return compiled;
}

export const doubles = (...values: number[]): Memory[string] => grid("f64", [values.length], values);
export const integers = (...values: number[]): Memory[string] => grid("i32", [values.length], values);
