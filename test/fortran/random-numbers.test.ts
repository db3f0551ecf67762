/* `random_number` on the host: numbers from 0 up to 1 for scalars, elements, arrays and sections; values by hand elsewhere. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";

const TEXT = `
subroutine s(x, y, r)
  real(8) :: x(6), y(4, 3)
  real(4), intent(out) :: r
  real(8) :: own(5)
  integer :: i, n
  integer, allocatable :: seed(:)
  call random_seed(size=n)
  allocate(seed(n))
  seed = 3
  call random_seed(put=seed)
  call random_number(r)
  call random_number(own)
  do i = 1, 3
    call random_number(x(i))
  end do
  call random_number(y(:, 2))
  !$acc parallel loop
  do i = 4, 6
    x(i) = 10 + own(i-1)
  end do
end subroutine
`;

it("random_number", async () => {
  const device = await open("js");
  const [x, y] = [device.array(f64, 6), device.array(f64, [3, 4])];
  const { r } = await fortran(TEXT, { file: "a.F90" }).routine("s").run(device, { x, y });
  const isRandom = (value: number): boolean => value > 0 && value < 1;
  assert.ok(isRandom(Number(r)) && Math.fround(Number(r)) === r);
  const values = [...(await device.queue.read(x))];
  const all = [...values.slice(0, 3), ...values.slice(3).map((value) => value - 10)];
  const columns = [...(await device.queue.read(y))];
  assert.deepEqual([...columns.slice(0, 4), ...columns.slice(8)], Array(8).fill(0));
  all.push(...columns.slice(4, 8));
  assert.ok(all.every(isRandom), `${all}`);
  assert.equal(new Set(all).size, all.length);
  await device.close();
});

it("random_number of what is no real is refused", () => {
  assert.throws(
    () => fortran(TEXT.replace("random_number(r)", "random_number(n)"), { file: "a.F90" }),
    /random_number: it takes variables of type real only/,
  );
});

it("random_number gives the same numbers in each process, from the first on", async () => {
  const module = new URL("../../src/fortran/host/random-numbers.js?fresh", import.meta.url).href;
  const { randomNumber } = (await import(module)) as typeof import("../../src/fortran/host/random-numbers.js");
  assert.deepEqual([randomNumber("f64"), randomNumber("f32")], [0.36787553937444917, 0.8205357193946838]);
});
