/*
 * Random routines that keep arrays on a device: regions, enter and exit, updates, loops over what is there and what is not. All are valid where host and
 * device have memories of their own: a statement reads only values that its side has, so that serial Fortran tells what is right.
 */
import { oneOf, picks, type Pick } from "../soak/mutate.js";

/** Half of an array's elements. */
type Half = 0 | 1;

/** An array, and which halves of it have the program's values on each side. */
interface Held {
  readonly name: string;
  readonly host: [boolean, boolean];
  readonly device: [boolean, boolean];
  structured: number;
  dynamic: number;
  /** Whether \`declare\` has it on the device for good. */
  readonly lasting?: true;
}

const isPresent = ({ structured, dynamic, lasting }: Held): boolean => lasting === true || structured > 0 || dynamic > 0;

type Model = "acc" | "omp";

const MAPS = { copy: "tofrom", copyin: "to", copyout: "from", create: "alloc", delete: "release" } as const;
type Way = keyof typeof MAPS;

/** Clauses of arrays, in either standard. */
function clauses(model: Model, ways: readonly (readonly [Way, string])[]): string {
  return ways.map(([way, name]) => (model === "acc" ? `${way}(${name})` : `map(${MAPS[way]}: ${name})`)).join(" ");
}

const RANGES = ["1:h", "h+1:n", "1:n"] as const;
const halvesOf = (range: number): readonly Half[] => (range === 2 ? [0, 1] : [range as Half]);

class Writer {
  readonly lines: string[] = [];
  private readonly regions: { readonly arrays: readonly (readonly [Way, Held])[]; readonly hasFactor: boolean; readonly end: string }[] =
    [];
  private readonly arrays: Held[];
  /** Regions that keep the scalar `factor` on the device, and whether it has the host's value there. */
  private readonly factor = { held: 0, isFresh: true };

  constructor(
    private readonly pick: Pick,
    private readonly model: Model,
    private readonly hasOthers: boolean,
  ) {
    const names = model === "acc" ? ["a", "b", "t", "o%c", "kept"] : ["a", "b", "t"];
    this.arrays = names.map((name) => ({
      name,
      host: [true, true],
      device: [false, false],
      structured: 0,
      dynamic: 0,
      ...(name === "kept" && { lasting: true as const }),
    }));
  }

  step(): void {
    const { pick } = this;
    const steps = [
      this.open,
      this.close,
      this.enter,
      this.exit,
      this.update,
      this.update,
      this.hosts,
      this.loop,
      this.loop,
      this.loop,
      this.call,
    ];
    const ofModel = this.model === "acc" ? [this.scalar, ...(this.hasOthers ? [this.block] : [])] : [];
    oneOf(pick, [...steps, ...ofModel]).call(this);
  }

  end(): void {
    while (this.regions.length > 0) this.close();
    for (const held of this.arrays) {
      while (held.dynamic > 0) this.exitOf(held);
      for (const half of [0, 1] as const) if (!held.host[half] && isPresent(held) && held.device[half]) this.updateOf(held, half, "self");
      for (const half of [0, 1] as const)
        if (!held.host[half]) {
          this.lines.push(`${held.name}(${RANGES[half]}) = 0`);
          held.host[half] = true;
        }
    }
    this.lines.push("seen = a + 2*b + 4*t", ...(this.model === "acc" ? ["seen = seen + 8*o%c + 16*kept"] : []));
  }

  private get indent(): string {
    return "  ".repeat(this.regions.length);
  }

  private add(...lines: readonly string[]): void {
    for (const line of lines) this.lines.push(line.startsWith("!$") ? line : this.indent + line);
  }

  private held(way: Way, held: Held): void {
    if (isPresent(held)) return;
    for (const half of [0, 1] as const) held.device[half] = (way === "copy" || way === "copyin") && held.host[half];
  }

  private left(way: Way, held: Held): void {
    if (isPresent(held) || (way !== "copy" && way !== "copyout")) return;
    for (const half of [0, 1] as const) held.host[half] = held.device[half];
  }

  private some(): Held[] {
    const all = this.arrays.filter(({ lasting }) => !lasting);
    const found = all.filter(() => this.pick(2) === 0);
    return found.length > 0 ? found : [oneOf(this.pick, all)];
  }

  private open(): void {
    if (this.regions.length > 2) return;
    const { model, pick } = this;
    const arrays = this.some().map((held) => [oneOf(pick, ["copy", "copyin", "copyout", "create"] as const), held] as const);
    for (const [way, held] of arrays) {
      this.held(way, held);
      held.structured++;
    }
    const list = clauses(
      model,
      arrays.map(([way, { name }]) => [way, name]),
    );
    const condition = pick(3) === 0 ? " if(n > 2)" : "";
    const hasFactor = model === "acc" && pick(2) === 0;
    if (hasFactor && this.factor.held++ === 0) this.factor.isFresh = true;
    const scalar = hasFactor ? " copyin(factor)" : "";
    this.add(model === "acc" ? `!$acc data ${list}${scalar}${condition}` : `!$omp target data ${list}${condition}`);
    this.regions.push({ arrays, hasFactor, end: model === "acc" ? "!$acc end data" : "!$omp end target data" });
  }

  private close(): void {
    const region = this.regions.pop();
    if (!region) return;
    for (const [way, held] of region.arrays) {
      held.structured--;
      this.left(way, held);
    }
    if (region.hasFactor) this.factor.held--;
    this.add(region.end);
  }

  /** A scalar that the host assigns, and that the device gets by an update where it keeps the scalar. */
  private scalar(): void {
    const { pick, factor } = this;
    if (pick(2) === 0) {
      this.add(`factor = ${1 + pick(9)}`);
      factor.isFresh = false;
    } else if (factor.held > 0) {
      this.add("!$acc update device(factor)");
      factor.isFresh = true;
    }
  }

  private enter(): void {
    const { model, pick } = this;
    const held = oneOf(pick, this.some());
    const way = oneOf(pick, ["copyin", "create"] as const);
    this.held(way, held);
    held.dynamic++;
    this.add(`${model === "acc" ? "!$acc" : "!$omp target"} enter data ${clauses(model, [[way, held.name]])}`);
  }

  private exit(): void {
    const held = this.arrays.find(({ dynamic }) => dynamic > 0);
    if (held) this.exitOf(held);
  }

  private exitOf(held: Held): void {
    const { model, pick } = this;
    const way = oneOf(pick, ["copyout", "copyout", "delete"] as const);
    held.dynamic--;
    this.left(way, held);
    this.add(`${model === "acc" ? "!$acc" : "!$omp target"} exit data ${clauses(model, [[way, held.name]])}`);
  }

  private update(): void {
    const held = oneOf(this.pick, this.arrays);
    const half = this.pick(2) as Half;
    if (!isPresent(held)) return;
    const [host, device] = [held.host[half], held.device[half]];
    // A side that has the values gives them to the other.
    if (host !== device) this.updateOf(held, half, host ? "device" : "self");
  }

  private updateOf(held: Held, half: Half, side: "self" | "device"): void {
    const part = `${held.name}(${RANGES[half]})`;
    held.host[half] = held.device[half] = true;
    this.add(this.model === "acc" ? `!$acc update ${side}(${part})` : `!$omp target update ${side === "self" ? "from" : "to"}(${part})`);
  }

  /** Statements of the host, one of them in a loop that its threads share. */
  private hosts(): void {
    const { pick } = this;
    const held = oneOf(pick, this.arrays);
    const half = pick(2) as Half;
    const { name } = held;
    const [first, last] = RANGES[half].split(":");
    const k = 1 + pick(9);
    if (held.host[half]) {
      const loop = [`do i = ${first}, ${last}`, `  ${name}(i) = mod(5*${name}(i) + ${k}, 1009d0)`, "end do"];
      this.add(
        ...(pick(2) === 0 && this.hasOthers
          ? ["!$omp parallel do", ...loop]
          : [`${name}(${RANGES[half]}) = mod(3*${name}(${RANGES[half]}) + ${k}, 1009d0)`]),
      );
    } else this.add(`${name}(${RANGES[half]}) = ${k}`);
    held.host[half] = true;
    held.device[half] = false;
  }

  /** Arrays of which the device can read some halves: the values are there, or come there with the loop. */
  private readable(halves: readonly Half[]): Held[] {
    return this.arrays.filter((held) => (isPresent(held) ? halves.every((half) => held.device[half]) : held.host[0] && held.host[1]));
  }

  private written(held: Held, halves: readonly Half[]): void {
    for (const half of halves) {
      if (isPresent(held)) held.host[half] = false;
      if (isPresent(held)) held.device[half] = true;
    }
  }

  private loop(): void {
    const { model, pick } = this;
    const range = pick(3);
    const halves = halvesOf(range);
    const isHosts = this.hasOthers && pick(4) === 0;
    const from = isHosts ? this.arrays.filter(({ host }) => halves.every((half) => host[half])) : this.readable(halves);
    const [first, last] = RANGES[range].split(":");
    if (from.length === 0) return;
    const source = oneOf(pick, from);
    const overwrites = pick(3) === 0;
    // Elements that the loop does not assign go there and back with the others.
    const targets = overwrites && !isHosts ? this.arrays.filter((held) => isPresent(held) || (held.host[0] && held.host[1])) : from;
    const target = oneOf(pick, targets);
    const isAll = range === 2 && overwrites && target !== source;
    const said = (held: Held, way: Way): string =>
      pick(2) === 0 ? "" : isPresent(held) && model === "acc" ? `present(${held.name})` : clauses(model, [[way, held.name]]);
    const list = [said(target, isAll ? "copyout" : "copy"), source === target ? "" : said(source, oneOf(pick, ["copyin", "copy"]))];
    // The condition that a loop of the host has does not hold.
    const condition = isHosts ? "h > 9" : pick(4) === 0 ? "n > 4" : undefined;
    const where = condition === undefined ? "" : model === "acc" ? `if(${condition})` : `if(target: ${condition})`;
    const async = model === "acc" && pick(3) === 0 ? "async(1)" : "";
    const head =
      model === "acc"
        ? `!$acc parallel loop ${list.join(" ")} ${async} ${where}`
        : `!$omp target teams distribute parallel do ${list.join(" ")} ${where}`;
    const value = overwrites ? `2*${source.name}(i)` : `${target.name}(i) + 2*${source.name}(i)`;
    const readsFactor = model === "acc" && (isHosts || this.factor.held === 0 || this.factor.isFresh) && pick(2) === 0;
    const added = readsFactor ? "factor" : String(1 + pick(9));
    this.add(head.trim(), `do i = ${first}, ${last}`, `  ${target.name}(i) = mod(${value} + ${added}, 1009d0)`, "end do");
    if (async !== "") this.add("!$acc wait(1)");
    if (isHosts) for (const half of halves) target.device[half] = false;
    else this.written(target, halves);
  }

  /** A routine that finds the arrays of its caller. */
  private call(): void {
    const from = this.readable([0, 1]);
    if (from.length < 2) return;
    const [target, source] = [oneOf(this.pick, from), oneOf(this.pick, from)];
    if (target === source) return;
    this.add(`call add_${this.model}(n, ${target.name}, ${source.name})`);
    this.written(target, [0, 1]);
  }

  /** Statements between the loops of one construct, which the device runs, too. */
  private block(): void {
    const from = this.readable([0, 1]);
    if (from.length < 2) return;
    const [target, source] = [oneOf(this.pick, from), oneOf(this.pick, from)];
    this.add(
      "!$acc kernels",
      `${target.name}(1) = ${source.name}(n) + 1`,
      "!$acc loop independent",
      "do i = 2, n",
      `  ${target.name}(i) = mod(${source.name}(i) + 7, 1009d0)`,
      "end do",
      "!$acc end kernels",
    );
    this.written(target, [0, 1]);
  }
}

const called = (model: Model, directive: string): string => `  subroutine add_${model}(n, x, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n)
    integer :: i
    ${directive}
    do i = 1, n
      x(i) = mod(x(i) + y(i), 1009d0)
    end do
  end subroutine
`;

/**
 * A module with several routines, and the names of these.
 *
 * @param hasOthers with loops of the host's threads, and statements between the loops of one construct, for which a port to HIP has copies of its own
 */
export function randomData(seed: number, count: number, hasOthers = true): { readonly text: string; readonly names: readonly string[] } {
  const pick = picks(seed);
  const names = Array.from({ length: count }, (_, n) => `w${n}`);
  const routines = names.map((name) => {
    const model = oneOf(pick, ["acc", "acc", "omp"] as const);
    const writer = new Writer(pick, model, hasOthers);
    for (let n = 0; n < 20; n++) writer.step();
    writer.end();
    const isAcc = model === "acc";
    return `  subroutine ${name}(n, h, a, b, seen)
    integer, intent(in) :: n, h
    real(8) :: a(n), b(n), seen(n), t(n)
${isAcc ? "    type(object) :: o\n    real(8) :: factor\n" : ""}    integer :: i
    t = 7
${isAcc ? "    factor = 3\n    allocate(o%c(n))\n    o%c = 9\n    kept = 11\n" : ""}    ${writer.lines.map((line) => `${line}\n`).join("    ")}${isAcc ? "    deallocate(o%c)\n" : ""}  end subroutine
`;
  });
  const head = `module fixtures
  implicit none
  integer, parameter :: size_of_all = 11
  type object
    real(8), allocatable :: c(:)
  end type
  real(8) :: kept(size_of_all)
  !$acc declare create(kept)
contains
`;
  return {
    text: [
      head,
      called("acc", "!$acc parallel loop"),
      called("omp", "!$omp target teams distribute parallel do"),
      ...routines,
      "end module\n",
    ].join(""),
    names,
  };
}

/** A program that runs the routines. */
export const dataProgram = (names: readonly string[]): string => `program run
  use fixtures
  implicit none
  real(8) :: a(11), b(11), seen(11)
  integer :: i
${names
  .map(
    (name) => `  a = [(1d0*i, i = 1, 11)]\n  b = 20 - a\n  seen = 0\n  call ${name}(11, 4, a, b, seen)\n  print '(11f8.0)', a, b, seen\n`,
  )
  .join("")}end program
`;
