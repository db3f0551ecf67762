import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShaderEntry } from "../../../src/emit/wgsl/shader-program.js";
import { shaderError } from "../../../src/device/webgpu/shader-error.js";

const entry: ShaderEntry = {
  name: "main",
  source: ["fn main() {", "  let a = 1;  // line 12", "  let b = a;", "  let c = d;", "}"].join("\n"),
  fields: [],
  buffers: [],
  workgroup: [1, 1, 1],
  workgroupBytes: 0,
};

test("a refused shader is reported with the kernel, its line and the driver's words", () => {
  const { message } = shaderError(
    "webgpu",
    { name: "axpy", file: "axpy.ts" },
    entry,
    { message: "unresolved value 'd'", lineNum: 4 },
    undefined,
  );
  assert.match(message, /refuses the shader "main" of kernel "axpy" \(axpy\.ts:12\): unresolved value 'd', at "let c = d;"/);
});

test("a refusal without a place names the kernel's file", () => {
  const { message } = shaderError("webgpu", { name: "axpy", file: "axpy.ts" }, entry, undefined, "too many bindings\nmore");
  assert.match(message, /kernel "axpy" \(axpy\.ts\): too many bindings \(/);
});
