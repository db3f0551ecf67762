/*
 * Random routines with parallel loops whose scalars have random roles and clauses. All are valid: what comes back, and what does not, is defined by
 * the standards of the directives, so that gfortran with -fopenacc and -fopenmp tells what is right.
 */
import { oneOf, type Pick } from "../soak/mutate.js";

/** Arguments of each routine, besides `n`; reals are whole numbers, so that sums are exact. */
export const SIGNATURE = "n, x, k, y, seen, di, dr, dq";

/** Scalars by their types: dummies, variables of a module, locals. */
const SCALARS = { integer: ["di", "mi", "li", "lj"], real: ["dr", "mr", "lr"], single: ["ls"], logical: ["dq", "mq", "lq"] } as const;
type Type = keyof typeof SCALARS;
const TYPES = Object.keys(SCALARS) as Type[];

const DECLARATIONS = `    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n), i, j, li, lj
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    real(8) :: lr, t, w(2)
    real(4) :: ls
    logical :: lq
    i = 50
    j = 60
    w(1) = 9
    w(2) = 10
    li = 3
    lj = -4
    lr = 5
    ls = 6
    lq = .false.`;

/** What is left in locals, where the caller sees it. */
const SEEN = ["li", "lj", "lr", "ls", "merge(1, 2, lq)", "w(1)", "w(2)", "seen(8) + i + 100*j"];

/** Declarations and first values of arrays of objects, complex arrays and common blocks, which some routines have. */
const RICH = {
  declarations: `    integer :: ci
    real(8) :: cr
    common /shared_by_routines/ ci, cr
    complex(8) :: za(n), zc
    type(cell) :: ob(n)
    real(8) :: early(0:2 + abs(di))`,
  start: `early = 2
    ci = 6
    cr = 7
    zc = (1d0, -2d0)
    za = cmplx(x, 1, 8)
    ob%v = 1
    ob%c(1) = 2
    ob%c(2) = 3
    ob%base = x
    ob%on = x > 0
    ob%in%u = 4
    ob%in%w = 5`,
  end: `call addcommon(seen(8))
    y = y + real(za) + 3*aimag(za) + ob%v + ob%c(1) - ob%c(2) + ob%in%u + 2*ob%in%w
    seen(8) = seen(8) + ci + cr`,
} as const;

/** Statements of iterations that use them; no iteration touches what another one writes. */
const RICH_STATEMENTS: readonly string[] = [
  "za(i) = za(i)*cmplx(k(i), 1, 8) + x(i)",
  "za(i) = conjg(za(i)) - zc",
  "ob(i)%v = ob(i)%v + k(i)",
  "ob(i)%c(2) = ob(i)%c(1) + x(i)",
  "ob(i)%in%w = 2*x(i) + ob(k(i))%base",
  "ob(i)%in = pair(x(i), 2d0*k(i))",
  "if (ob(i)%on) y(i) = y(i) + ob(i)%v + real(za(i))",
  "call shift(ob(i), x(i))",
  "y(i) = y(i) + cr + ci*sum(ob(i)%c)",
  "y(i) = y(i) + early(mod(i, size(early)))",
  "associate (o => ob(i))\no%v = o%v - 2\nend associate",
];
const RICH_HOST: readonly string[] = [
  "call addcommon(seen(8))",
  "cr = cr + li + size(early)",
  "early(1) = early(1) + ubound(early, 1)",
  "ob(2) = ob(1)",
  "za(3) = za(1)*zc",
  "ob(1:3)%v = 9",
  "call shift(ob(3), dr)",
];

/** The module whose scalars routines use, by these names or by others. */
export const STATE = `module state
  implicit none
  type pair
    real(8) :: u, w
  end type
  type cell
    integer :: v
    logical :: on
    real(8) :: c(2), base
    type(pair) :: in
  end type
  integer :: mi = 1
  real(8) :: mr = 2
  logical :: mq = .true.
contains
  pure real(8) function twice(v)
    real(8), intent(in) :: v
    twice = 2*v
  end function
  pure subroutine mark(is, flag)
    logical, intent(in) :: is
    integer, intent(inout) :: flag
    if (is) flag = 12
  end subroutine
  pure subroutine shift(o, v)
    type(cell), intent(inout) :: o
    real(8), intent(in) :: v
    o%c(1) = o%c(1) + v
    if (o%on) o%in%u = o%in%u - 1
  end subroutine
  subroutine addcommon(v)
    real(8), intent(inout) :: v
    integer :: first
    real(8) :: second
    common /shared_by_routines/ first, second
    v = v + 10*first + second
    first = first + 1
  end subroutine
  subroutine setmine(is, v)
    logical, intent(in) :: is
    real(8), intent(in) :: v
    if (is) mr = 3*v
  end subroutine
end module
`;

/** A construct around a loop over `i`, or over `j` and `i`. */
interface Construct {
  readonly model: "acc" | "omp" | "none";
  /** `between`: statements between the construct's directive and the loop's, where it has two. */
  readonly open: (clauses: string, between: string) => string;
  /** How a scalar becomes the construct's own there; statements may stand between the directives then. */
  readonly own?: "" | "private";
  readonly close: string;
  /** Clauses by which a scalar comes back; a construct does it by itself where one is empty. */
  readonly back: readonly string[];
  /** Of them, where the scalar is certain to be assigned. */
  readonly out?: readonly string[];
  /** Whether a scalar without a clause is each iteration's own. */
  readonly isPrivate?: true;
  /** What the clauses of the loop are; none where clauses have no place. */
  readonly takes: readonly ("private" | "firstprivate" | "lastprivate" | "reduction")[];
  /** The last iteration's value comes back by itself. */
  readonly ordered?: true;
  /** Iterations have to be seen to be apart. */
  readonly mustShow?: true;
  /** `collapse` may stand among the clauses of the loop. */
  readonly takesCollapse?: true;
}

const lines = (...texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n");
const ACC = ["copy", "pcopy", "present_or_copy"];
const ALL = ["private", "firstprivate", "lastprivate", "reduction"] as const;
const WITHOUT_LAST = ["private", "firstprivate", "reduction"] as const;

const CONSTRUCTS: readonly Construct[] = [
  {
    model: "acc",
    open: (c) => `!$acc parallel loop ${c}`,
    close: "",
    back: ACC,
    out: ["copyout", "pcopyout"],
    isPrivate: true,
    takes: WITHOUT_LAST,
    takesCollapse: true,
  },
  {
    model: "acc",
    open: (c) => `!$acc kernels loop independent ${c}`,
    close: "",
    back: ["", "copy"],
    takes: ["private", "reduction"],
    ordered: true,
  },
  {
    model: "acc",
    open: (c) => `!$acc kernels loop ${c}`,
    close: "",
    back: ["", "copy"],
    takes: ["reduction"],
    ordered: true,
    mustShow: true,
  },
  { model: "omp", open: (c) => `!$omp parallel do ${c}`, close: "", back: ["", "shared"], takes: ALL, takesCollapse: true },
  { model: "omp", open: (c) => lines("!$omp parallel", `!$omp do ${c}`), close: "!$omp end parallel", back: [""], takes: ALL },
  {
    model: "omp",
    open: (c) => `!$omp target teams distribute parallel do ${c}`,
    close: "",
    back: ["map(tofrom:", "map("],
    out: ["map(from:"],
    isPrivate: true,
    takes: WITHOUT_LAST,
    takesCollapse: true,
  },
  { model: "omp", open: (c) => `!$omp target parallel do defaultmap(tofrom: scalar) ${c}`, close: "", back: [""], takes: WITHOUT_LAST },
  {
    model: "acc",
    open: (c, between) => lines("!$acc parallel", between, `!$acc loop ${c}`),
    own: "",
    close: "!$acc end parallel",
    back: [],
    isPrivate: true,
    takes: ["private"],
  },
  {
    model: "acc",
    open: (c) => lines(`!$acc data ${c}`, "!$acc parallel loop"),
    close: "!$acc end data",
    back: ACC,
    isPrivate: true,
    takes: [],
  },
  {
    model: "acc",
    open: (c, between) => lines(`!$acc parallel ${c}`, between, "!$acc loop"),
    own: "",
    close: "!$acc end parallel",
    back: ACC,
    isPrivate: true,
    takes: [],
  },
  {
    model: "acc",
    open: () => lines("!$acc kernels", "!$acc loop independent"),
    close: "!$acc end kernels",
    back: [""],
    takes: [],
    ordered: true,
  },
  {
    model: "acc",
    open: (c) => lines(`!$acc kernels ${c}`, "!$acc loop independent"),
    close: "!$acc end kernels",
    back: ["copy"],
    takes: [],
    ordered: true,
  },
  {
    model: "omp",
    open: (c) => lines(`!$omp target ${c}`, "!$omp teams distribute parallel do"),
    close: lines("!$omp end target"),
    back: ["map(tofrom:", "map(always, tofrom:"],
    takes: [],
  },
  {
    model: "omp",
    open: (c, between) => lines(`!$omp target ${c}`, between, "!$omp parallel do"),
    own: "",
    close: "!$omp end target",
    back: ["map(tofrom:", "map("],
    takes: [],
  },
  {
    model: "omp",
    open: (c, between) => lines(`!$omp parallel ${c}`, between, "!$omp do"),
    own: "private",
    close: "!$omp end parallel",
    back: ["", "shared"],
    takes: ["private"],
  },
  { model: "none", open: () => "", close: "", back: [""], takes: [], ordered: true },
];

/** Names of scalars, each taken once. */
class Scalars {
  private readonly free = new Map<Type, string[]>(TYPES.map((type) => [type, [...SCALARS[type]]]));

  constructor(private readonly pick: Pick) {}

  take(types: readonly Type[] = TYPES): { name: string; type: Type } | undefined {
    const left = types.filter((type) => this.free.get(type)!.length > 0);
    if (left.length === 0) return undefined;
    const type = oneOf(this.pick, left);
    const names = this.free.get(type)!;
    return { name: names.splice(this.pick(names.length), 1)[0], type };
  }
}

/** A value that all iterations share. */
const constant = (pick: Pick, type: Type): string =>
  type === "logical" ? oneOf(pick, [".true.", ".false."]) : `${pick(9) - 4}${type === "real" ? "._8" : type === "single" ? "." : ""}`;

/** A value of one iteration's own. */
function varying(pick: Pick, type: Type): string {
  if (type === "logical") return `x(i) > ${pick(9) - 4}`;
  if (type === "integer") return oneOf(pick, ["i", "k(i)", "i + 2*k(i)", "-k(i)", "int(x(i))"]);
  return oneOf(pick, ["x(i)", "x(i) + k(i)", "2*x(i)", "twice(x(i))", "-x(i)"]);
}

const condition = (pick: Pick, n: number): string =>
  oneOf(pick, [`k(i) > ${pick(n)}`, `x(i) < ${pick(9) - 4}`, `mod(k(i), ${2 + pick(3)}) == 0`, `k(i) > ${n}`, `k(i) >= 1`]);

const REDUCTIONS: Readonly<Record<Type, readonly (readonly [string, (s: string, e: string) => string])[]>> = {
  integer: [
    ["+", (s, e) => `${s} = ${s} + ${e}`],
    ["max", (s, e) => `${s} = max(${s}, ${e})`],
    ["ieor", (s, e) => `${s} = ieor(${s}, ${e})`],
    ["min", (s, e) => `if (k(i) > 2 .and. ${e} < ${s}) ${s} = ${e}`],
  ],
  real: [
    ["+", (s, e) => `${s} = ${s} + ${e}`],
    ["min", (s, e) => `if (x(i) > -3 .and. ${e} < ${s}) ${s} = ${e}`],
    ["max", (s, e) => `if (${e} > ${s}) ${s} = ${e}`],
  ],
  single: [["max", (s, e) => `${s} = max(${s}, real(${e}))`]],
  logical: [
    [".or.", (s, e) => `${s} = ${s} .or. ${e}`],
    [".and.", (s, e) => `${s} = ${s} .and. ${e}`],
  ],
};

/** What a loop does with one scalar: statements, and the clauses that this takes. */
interface Role {
  readonly stmts: readonly string[];
  readonly clause?: string;
  /** A statement before the loop, in the construct. */
  readonly between?: string;
}

const clauseOf = (word: string, name: string): string => (word === "" ? "" : word.includes("(") ? `${word} ${name})` : `${word}(${name})`);

function roleOf(pick: Pick, n: number, construct: Construct, scalars: Scalars): Role | undefined {
  const { back, out = [], takes, model, isPrivate, ordered, mustShow, own } = construct;
  const certain = (): string => oneOf(pick, [...back, ...out]);
  const read = (name: string, type: Type): string => `y(i) = y(i) + ${type === "logical" ? `merge(1, 2, ${name})` : name}`;
  const taken = scalars.take();
  if (!taken) return undefined;
  const { name, type } = taken;
  const given = (word: string, ...stmts: string[]): Role => ({ stmts, clause: clauseOf(word, name) });
  const lost = (): Role | undefined => {
    if (!isPrivate) return undefined;
    const stmt = `${name} = ${varying(pick, type)}`;
    return oneOf(pick, [given("", stmt, read(name, type)), given("", `if (${condition(pick, n)}) ${name} = ${constant(pick, type)}`)]);
  };
  // A construct without clauses gives nothing back.
  if (back.length === 0) return oneOf(pick, [lost, () => given("", read(name, type))])();
  const roles: (() => Role | undefined)[] = [
    () => given(oneOf(pick, back), `if (${condition(pick, n)}) ${name} = ${constant(pick, type)}`),
    () => given(certain(), `${name} = ${constant(pick, type)}`),
    () => given(certain(), `if (i == ${1 + pick(n)}) ${name} = ${varying(pick, type)}`),
    () =>
      given(
        oneOf(pick, back),
        `if (${1 + pick(2 * n)} == i .and. ${condition(pick, n)}) then`,
        `  ${name} = ${varying(pick, type)}`,
        "end if",
      ),
    () => (mustShow ? undefined : given(oneOf(pick, back), `if (k(i) == ${1 + pick(2 * n)}) ${name} = ${varying(pick, type)}`)),
    () => {
      if (model === "none") return undefined;
      return given(
        oneOf(pick, back),
        `if (${condition(pick, n)}) then`,
        `!$${model} atomic write`,
        `${name} = ${constant(pick, type)}`,
        "end if",
      );
    },
    () => (ordered && model !== "none" ? given("", `${name} = ${varying(pick, type)}`, read(name, type)) : undefined),
    () => (takes.includes("lastprivate") ? given("lastprivate", `${name} = ${varying(pick, type)}`, read(name, type)) : undefined),
    () => (takes.includes("private") ? given("private", `${name} = ${varying(pick, type)}`, read(name, type)) : undefined),
    () => (takes.includes("firstprivate") ? given("firstprivate", read(name, type)) : undefined),
    lost,
    () => {
      if (type !== "integer" || mustShow) return undefined;
      return given(oneOf(pick, back), `call mark(k(i) == ${1 + pick(2 * n)}, ${name})`);
    },
    // Only threads of the host share a variable with the procedures that they call.
    () => {
      if (name !== "mr" || model !== "omp" || !back.includes("")) return undefined;
      return given(oneOf(pick, back), `call setmine(k(i) == ${1 + pick(2 * n)}, ${varying(pick, "real")})`);
    },
    () => given("", read(name, type)),
    () => {
      if (own === undefined) return undefined;
      const between = `${name} = ${constant(pick, type)}`;
      return { ...given(own, ...(pick(2) === 0 ? [read(name, type)] : [])), between };
    },
    () => {
      if (!takes.includes("reduction")) return undefined;
      const [op, stmt] = oneOf(pick, REDUCTIONS[type]);
      return { stmts: [stmt(name, varying(pick, type))], clause: `reduction(${op}: ${name})` };
    },
  ];
  return oneOf(pick, roles)();
}

/** An array that each iteration has for itself. */
function arrayOf(pick: Pick, { takes, model }: Construct): Role | undefined {
  const kinds = (["private", "firstprivate"] as const).filter((kind) => takes.includes(kind) && (kind === "private" || model === "omp"));
  if (kinds.length === 0 || pick(4) > 0) return undefined;
  const kind = oneOf(pick, kinds);
  const stmts = [`w(1) = ${varying(pick, "real")}`, `y(i) = y(i) + w(1)${kind === "private" ? "" : " + w(2)"}`];
  return { stmts, clause: `${kind}(w)` };
}

/** One loop, or two of which the outer one has one turn. */
function headOf(
  pick: Pick,
  { model, takesCollapse }: Construct,
): { readonly head: string; readonly end: string; readonly collapse: string } {
  if (model === "none")
    return {
      head: oneOf(pick, ["do concurrent (i = 1:n)", "do concurrent (i = 1:n, j = 1:1)", "do concurrent (i = 1:n, k(i) > 3)"]),
      end: "end do",
      collapse: "",
    };
  if (pick(3) > 0 || !takesCollapse) return { head: "do i = 1, n", end: "end do", collapse: "" };
  return { head: "do j = 2, 2\ndo i = 1, n", end: "end do\nend do", collapse: "collapse(2)" };
}

function loop(pick: Pick, n: number, isRich: boolean): string {
  const construct = oneOf(pick, CONSTRUCTS);
  const scalars = new Scalars(pick);
  const made = [...Array.from({ length: 1 + pick(4) }, () => roleOf(pick, n, construct, scalars)), arrayOf(pick, construct)];
  const roles = made.filter((role) => role !== undefined);
  const own = `y(i) = y(i) + ${varying(pick, "real")}`;
  const named = ["associate (c => y(i))", own.replaceAll("y(i)", "c"), "end associate"];
  const rich = isRich ? Array.from({ length: pick(4) }, () => [oneOf(pick, RICH_STATEMENTS)]) : [];
  const stmts = [...roles.map((role) => role.stmts), ...rich, pick(8) === 0 ? named : [own]];
  // Statements in another order
  for (let at = stmts.length - 1; at > 0; at--) {
    const other = pick(at + 1);
    [stmts[at], stmts[other]] = [stmts[other], stmts[at]];
  }
  const clauses = roles.map(({ clause }) => clause ?? "").join(" ");
  const { head, end, collapse } = headOf(pick, construct);
  const between = roles.flatMap((role) => role.between ?? []).join("\n");
  const parts = [construct.open(`${collapse} ${clauses}`.trim(), between), head, ...stmts.flat(), end, construct.close];
  return parts.filter((text) => text.trim() !== "").join("\n");
}

/** Statements of the host that read and assign scalars between loops. */
function host(pick: Pick, isRich: boolean): string {
  return oneOf(pick, [
    ...(isRich ? RICH_HOST : []),
    "seen(8) = seen(8) + li + dr",
    "li = li + 1",
    "if (lq) lj = lj + di",
    "dr = dr + mi",
    "lq = .not. lq",
    "mr = mr + lr",
  ]);
}

/** One routine. */
export function randomRoutine(name: string, n: number, pick: Pick): string {
  const use = oneOf(pick, [
    "use state",
    "use state, only : mi, mr, mq, twice, mark, setmine, cell, pair, shift, addcommon",
    "use state, only : addcommon, cell, mi, mq, pair, setmine, mr, mark, shift, twice",
    "use state, doubled => twice",
  ]);
  const isRich = pick(3) === 0;
  const parts = Array.from({ length: 1 + pick(3) }, () => [loop(pick, n, isRich), ...(pick(2) === 0 ? [host(pick, isRich)] : [])]).flat();
  const seen = SEEN.map((e, at) => `seen(${at + 1}) = ${e}`);
  const all = isRich ? [RICH.start, ...parts, ...seen, RICH.end] : [...parts, ...seen];
  const body = all.join("\n").replaceAll("\n", "\n    ");
  const more = isRich ? `${RICH.declarations}\n` : "";
  const text = `  subroutine ${name}(${SIGNATURE})\n    ${use}\n    implicit none\n    integer, intent(inout) :: di\n${more}${DECLARATIONS}\n    ${body}\n  end subroutine`;
  return use.includes("doubled") ? text.replaceAll("twice(", "doubled(") : text;
}
