import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, kernel, KernelError, open, range, teamKernel, view } from "../../src/index.js";
import { pointedAt } from "./lowered.js";

const y = view(f64);
const fill = ({ y }: { y: { [index: number]: number } }, i: number): void => {
  y[i] = 1;
};

/** The error that the declaration throws points at the call of `callee`. */
function refused(declare: () => unknown, name: string, callee: string, message: RegExp): void {
  assert.throws(declare, (error: unknown) => {
    assert(error instanceof KernelError, `${error}`);
    assert.equal(error.kernel, name);
    assert.ok(pointedAt(error).startsWith(`${callee}(`), `it points at ${pointedAt(error)}`);
    assert.match(error.message, message);
    return true;
  });
}

describe("a declaration that lacks a part is refused where it stands", () => {
  it("a name", () => {
    refused(() => kernel("", { y }, fill), "", "kernel", /it is given an empty string for its name \(write kernel\("name", \{.*, i\) =>/);
    refused(() => kernel(undefined as never, { y }, fill), "", "kernel", /given nothing for its name/);
    refused(() => teamKernel({ y } as never, fill as never, undefined as never), "", "teamKernel", /an Object for its name/);
  });

  it("a body that can be read", () => {
    const bound = fill.bind(null);
    refused(() => kernel("k", { y }, bound), "k", "kernel", /fill is bound, and has no source text \(pass a plain function/);
    refused(() => teamKernel("k", { y }, bound as never), "k", "teamKernel", /fill is bound/);
    refused(() => kernel("k", { y }, Math.sin as never), "k", "kernel", /sin is built into the engine and has no source text/);
    refused(() => kernel("k", { y }, async () => {}), "k", "kernel", /is async \(pass a plain function/);
    refused(() => kernel("k", { y }, function* () {} as never), "k", "kernel", /is a generator/);
    assert.equal(kernel("k", { y }, ({ y }, i) => void ((y[i] = 1) /* { [native code] } */)).name, "k");
  });

  it("parameters", () => {
    refused(() => kernel("k", fill as never, undefined as never), "k", "kernel", /it is given a function for its parameters/);
    refused(() => kernel("k", null as never, fill as never), "k", "kernel", /given null for its parameters/);
    refused(
      () => teamKernel("k", [y] as never, fill as never),
      "k",
      "teamKernel",
      /given an Array for its parameters \(write teamKernel\(/,
    );
  });

  it("a function", () => {
    refused(() => kernel("k", { y }, undefined as never), "k", "kernel", /it is given nothing for its function/);
    refused(() => kernel("k", { y }, "y[i] = 1" as never), "k", "kernel", /given a string for its function/);
    refused(() => teamKernel("k", { y }, 3 as never), "k", "teamKernel", /given 3 for its function \(write teamKernel\(.*, team\) =>/);
  });
});

it("a parameter that is no declaration is refused at the first launch", async () => {
  const device = await open("js");
  for (const token of [undefined, null, "3"]) {
    const k = kernel("k", { y, z: token as never }, fill as never);
    assert.throws(() => device.prepare(k, { y: device.array(f64, 3) } as never, range(3)), {
      name: "KernelError",
      message: /the parameter "z" is declared as (undefined|null|3)/,
    });
  }
  await device.close();
});
