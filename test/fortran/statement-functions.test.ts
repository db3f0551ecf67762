/* Statement functions: `f(x) = 2*x` among the declarations. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { open, type Device } from "../../src/index.js";

let devices: Device[] = [];
before(async () => {
  devices = await Promise.all(["js", "wasm"].map((name) => open(name)));
});
after(() => Promise.all(devices.map((device) => device.close())));

const TEXT = `
module constants
  real(8), parameter :: rtt = 273.16d0
  real(8) :: factor = 3
end module
subroutine s(n, x, y, z)
  use constants
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n), z
  integer :: i
  real(8) :: warm, scaled, t, u, w(3)
  ! 1 above the melting point
  warm(t) = max(0d0, sign(1d0, t - rtt))
  real(8) :: both, shift
  scaled(t) = factor*t
  both(t, u) = warm(t)*u + (1 - warm(t))*scaled(u) + shift
  w(1) = 1
  shift = w(1)/2
  !$acc parallel loop
  do i = 1, n
    y(i) = both(x(i), x(i) - rtt)
  end do
  z = both(300d0, 2d0) + w(1)
end subroutine
`;
const X = [250, 273.16, 280, 300];

describe("statement functions", () => {
  it("are part of kernels and of what the host works out", async () => {
    const code = fortran(TEXT, { file: "a.F90" });
    assert.deepEqual(code.routines, ["s"]);
    for (const device of devices) {
      const [x, y] = [device.from({ type: "f64" }, X), device.array({ type: "f64" }, 4)];
      const { z } = await code.routine("s").run(device, { n: 4, x, y });
      const expected = X.map((t) => (t >= 273.16 ? t - 273.16 : 3 * (t - 273.16)) + 0.5);
      assert.deepEqual([...(await device.queue.read(y))], expected);
      assert.equal(z, 3.5);
    }
  });

  it("see what a loop has for itself, as procedures within the routine do", async () => {
    const text = (defined: string, called: string, contained = ""): string => `
subroutine s(n, x, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: y(n)
  integer :: i
  real(8) :: shift${defined}
  shift = 100
  !$acc parallel loop private(shift)
  do i = 1, n
    shift = x(i)
    y(i) = ${called}
  end do
${contained}
end subroutine`;
    const inside = "contains\nfunction g(t)\n  real(8) :: g, t\n  g = t + shift*i\nend function";
    for (const source of [text(", f, t\n  f(t) = t + shift*i", "f(2d0)"), text("", "g(2d0)", inside)])
      for (const device of devices) {
        const [x, y] = [device.from({ type: "f64" }, X), device.array({ type: "f64" }, 4)];
        await fortran(source, { file: "a.F90" }).routine("s").run(device, { n: 4, x, y });
        assert.deepEqual(
          [...(await device.queue.read(y))],
          X.map((value, n) => 2 + value * (n + 1)),
        );
      }
  });

  it("stay as they are written in ports", () => {
    const [{ text }] = portSources([{ file: "a.F90", text: TEXT }], { targets: ["openmp"] });
    assert.match(text, /! 1 above the melting point\n *warm\(t\) = max\(0d0, sign\(1d0, t - rtt\)\)\n/);
    assert.doesNotMatch(text, /contains/);
  });

  it("are told from assignments to elements, and their problems stand at their places", () => {
    assert.throws(() => fortran(TEXT.replace("factor*t", "factor*"), { file: "a.F90" }), /a\.F90:17:\d+: /);
    assert.throws(() => fortran(TEXT.replace("scaled(u)", "missing(u)"), { file: "a.F90" }), /a\.F90:\d+:\d+: missing/);
  });
});
