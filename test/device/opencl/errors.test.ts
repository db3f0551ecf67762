import assert from "node:assert/strict";
import test from "node:test";
import { failure } from "../../../src/device/opencl/api.js";
import { kernelLine } from "../../../src/device/opencl/opencl-program.js";

test("a failed call is named with its status and what to do", () => {
  const { name, message } = failure("clCreateBuffer", -61);
  assert.equal(name, "DeviceError");
  assert.match(message, /clCreateBuffer failed: CL_INVALID_BUFFER_SIZE \(free arrays/);
  assert.match(failure("clFinish", -77).message, /clFinish failed: error -77$/);
  assert.match(failure("a command", -5, "axpy").message, /CL_OUT_OF_RESOURCES; the last kernel submitted was "axpy" \(/);
  assert.doesNotMatch(failure("clCreateBuffer", -61, "axpy").message, /axpy/);
});

test("the source line of refused code is that of the statement around it, in any compiler's words", () => {
  const source = [
    "__kernel void k(__global float *x) {",
    "  x[0] = 1;  // line 12",
    "  x[1] =",
    "    y;",
    "  x[2] = 3;  // line 14",
    "}",
  ].join("\n");
  assert.equal(kernelLine(source, "<kernel>:4:5: error: use of undeclared identifier 'y'"), 12);
  assert.equal(kernelLine(source, "error: /tmp/x.cl:5:3 <Spelling=/usr/f.h:1:1>: call to 'f' is ambiguous"), 14);
  assert.equal(kernelLine(source, "<kernel>:3:1: warning: odd\n<kernel>:5:1: error: wrong"), 14);
  assert.equal(kernelLine(source, "<kernel>:1:1: error: wrong"), undefined);
  assert.equal(kernelLine(source, "out of memory"), undefined);
});
