/*
 * Random kernels of CUDA Fortran with random launches: too short, too long, in chunks. Each is also written as plain Fortran, with a loop over the
 * blocks and threads around a call, so that gfortran tells what is right. Elements count how often they are computed.
 */
import { oneOf, type Pick } from "../soak/mutate.js";
import { SIGNATURE } from "./random-routines.js";

/** One routine with its kernel. */
interface Launching {
  readonly cuda: string;
  readonly plain: string;
}

type Axis = "x" | "y";

/** A thread's index along an axis, counted from 1. */
const threadIndex = (pick: Pick, axis: Axis): string =>
  oneOf(pick, [
    `(blockIdx%${axis} - 1)*blockDim%${axis} + threadIdx%${axis}`,
    `threadIdx%${axis} + (blockIdx%${axis} - 1)*blockDim%${axis}`,
    `blockDim%${axis}*(blockIdx%${axis} - 1) + threadIdx%${axis}`,
    `blockIdx%${axis}*blockDim%${axis} - blockDim%${axis} + threadIdx%${axis}`,
  ]);

/** What a thread does with its element. */
const work = (pick: Pick, at: string): string =>
  oneOf(pick, [`y(${at}) = y(${at}) + ${at}`, `y(${at}) = 2*y(${at}) + x(${at})`, `y(${at}) = y(${at}) + k(${at}) + 100`]);

/** Lines of a kernel whose threads have an element each, or several. */
function alongOneAxis(pick: Pick): string[] {
  const first = `i = ${threadIndex(pick, "x")}${oneOf(pick, ["", " + from", " + from - 1"])}`;
  const body = work(pick, "i");
  return oneOf<() => string[]>(pick, [
    () => [first, "if (i < 1 .or. i > n) return", body],
    () => [first, "if (i > n) return", "if (i <= from/2 .or. i < 1) return", body],
    () => [first, `if (i <= n .and. i >= ${1 + pick(3)}) then`, body, "end if"],
    () => [first, "if (i > n) return", "if (i >= 1) then", body, `if (k(i) > ${pick(9)}) y(i) = y(i) + 1000`, "end if"],
    () => [`i = ${threadIndex(pick, "x")}`, `if (i <= n) ${body}`],
    () => [first, "if (i < 1 .or. i > n) return", body, "y(i) = y(i) + 10000*blockIdx%x"],
    () => [`t = ${threadIndex(pick, "x")}`, "do i = t, n, blockDim%x*gridDim%x", body, "end do"],
  ])();
}

/** Lines of a kernel over rows of four elements. */
function alongTwoAxes(pick: Pick): string[] {
  const [i, j] = [`i = ${threadIndex(pick, "x")}`, `j = ${threadIndex(pick, "y")}`];
  const element = "i + 4*(j - 1)";
  const guard = oneOf(pick, ["if (i > 4 .or. j > n/4) return", "if (j > n/4 .or. i > 4) return", "if (i > 4) return\nif (j > n/4) return"]);
  return [...(pick(2) === 0 ? [i, j] : [j, i]), ...guard.split("\n"), work(pick, element)];
}

/** Grid and block of a launch: expressions along each axis. */
interface Shape {
  readonly grid: readonly string[];
  readonly block: readonly string[];
}

interface Launch extends Shape {
  /** Statements before it, and around it. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
  readonly from?: string;
  readonly byVariables?: boolean;
}

/** `isLong`: a thread for each element, whatever the sizes. */
function launchOf(pick: Pick, axes: 1 | 2, isLong: boolean): Launch {
  const size = 1 + pick(6);
  if (axes === 2 && isLong) {
    const rows = 1 + pick(3);
    return { grid: [`3/${size} + 1`, `(n/4 + ${rows - 1})/${rows}`], block: [String(size), String(rows)], byVariables: pick(2) === 0 };
  }
  if (axes === 2) {
    const rows = 1 + pick(3);
    return {
      grid: [oneOf(pick, ["1", "2", `(3 + ${size})/${size}`]), oneOf(pick, [`(n/4 + ${rows - 1})/${rows}`, "1", "2"])],
      block: [String(size), String(rows)],
      byVariables: true,
    };
  }
  const one = (grid: string, block: string, more: Partial<Launch> = {}): Launch => ({
    grid: [grid],
    block: [block],
    byVariables: pick(3) === 0,
    ...more,
  });
  const long = [
    (): Launch => one(`(n + ${size - 1})/${size}`, String(size)),
    (): Launch => one(`ceiling(real(n)/${size})`, String(size)),
    (): Launch => one("c", String(size), { before: [`c = n/${size} + 1`] }),
    (): Launch => one(`(n + ${size - 1})/${size}`, String(size), { before: [`if (n > ${pick(30)}) then`], after: ["end if"] }),
  ];
  if (isLong) return oneOf(pick, long)();
  return oneOf<() => Launch>(pick, [
    ...long,
    () => one("1", String(size)),
    () => one(String(1 + pick(4)), String(size), { from: String(pick(5)) }),
    () => one("1", String(size), { before: [`do c = 0, n - 1, ${size}`], after: ["end do"], from: "c" }),
    () => one(`n/${size}`, String(size)),
    () => one("c", String(size), { before: [`c = (n + ${size - 1})/${size}`, ...(pick(2) === 0 ? [`if (n > ${pick(30)}) c = 2`] : [])] }),
  ])();
}

const SIZES = ["blockIdx", "threadIdx", "blockDim", "gridDim"].flatMap((of) =>
  ["x", "y"].map((axis) => ({ of: `${of}%${axis}`, name: `${of}_${axis}` })),
);

/** One kernel, and a routine that launches it once or twice. */
export function randomLaunching(name: string, pick: Pick): Launching {
  const axes = pick(3) === 0 ? 2 : 1;
  const body = axes === 2 ? alongTwoAxes(pick) : alongOneAxis(pick);
  const isLong = pick(2) === 0;
  const launches = Array.from({ length: 1 + pick(2) }, () => launchOf(pick, axes, isLong));
  return { cuda: cudaOf(name, body, launches), plain: plainOf(name, body, launches) };
}

const indented = (lines: readonly string[]): string => lines.map((line) => `    ${line}`).join("\n");

const ARGUMENTS = "x, k, y, n, from";
const DECLARED = ["real(8) :: x(n), y(n)", "integer :: k(n), i, j, t"];

function cudaOf(name: string, body: readonly string[], launches: readonly Launch[]): string {
  const called = launches.flatMap(({ grid, block, before = [], after = [], from = "0", byVariables }) => {
    const [g, b] = [grid, block].map((of) => (of.length === 1 ? of[0] : `dim3(${of.join(", ")}, 1)`));
    const args = `(x_d, k_d, y_d, n, ${from})`;
    if (!byVariables) return [...before, `call k_${name}<<<${g}, ${b}>>>${args}`, ...after];
    const sizes = [grid, block].map((of) => `dim3(${of[0]}, ${of[1] ?? 1}, 1)`);
    return [...before, `grid = ${sizes[0]}`, `tb = ${sizes[1]}`, `call k_${name}<<<grid, tb>>>${args}`, ...after];
  });
  return `  attributes(global) subroutine k_${name}(${ARGUMENTS})
    integer, value :: n, from
${indented([...DECLARED, ...body])}
  end subroutine
  subroutine ${name}(${SIGNATURE})
    use cudafor
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8), dr
    integer :: k(n), di, c
    logical :: dq
    real(8), device :: x_d(n), y_d(n)
    integer, device :: k_d(n)
    type(dim3) :: grid, tb
    x_d = x
    k_d = k
    y_d = y
${indented(called)}
    y = y_d
  end subroutine`;
}

function plainOf(name: string, body: readonly string[], launches: readonly Launch[]): string {
  const plainly = (line: string): string => SIZES.reduce((text, { of, name: to }) => text.replaceAll(of, to), line);
  const sizes = SIZES.map((each) => each.name).join(", ");
  const called = launches.flatMap(({ grid, block, before = [], after = [], from = "0" }) => {
    const [[gx, gy = "1"], [bx, by = "1"]] = [grid, block];
    return [
      ...before,
      `do b2 = 1, ${gy}`,
      `do b1 = 1, ${gx}`,
      `do t2 = 1, ${by}`,
      `do t1 = 1, ${bx}`,
      `call k_${name}(x, k, y, n, ${from}, b1, b2, t1, t2, ${bx}, ${by}, ${gx}, ${gy})`,
      "end do\nend do\nend do\nend do",
      ...after,
    ];
  });
  return `  subroutine k_${name}(${ARGUMENTS}, ${sizes})
    integer, value :: n, from
    integer :: ${sizes}
${indented([...DECLARED, ...body.map(plainly)])}
  end subroutine
  subroutine ${name}(${SIGNATURE})
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8), dr
    integer :: k(n), di, c, b1, b2, t1, t2
    logical :: dq
${indented(called)}
  end subroutine`;
}
