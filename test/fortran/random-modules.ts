/*
 * Random modules that use each other's names: private and public ones, `only`, renames, constants, functions; and routines that read what
 * they see, on their own, in modules, in submodules, through procedures of their own. Each name that a routine reads is one that it sees in one
 * way, so that gfortran accepts all.
 */
import { oneOf, type Pick } from "../soak/mutate.js";

/** Names that modules give to their own things; they are few, so that different things often have one name. */
const NAMES = ["aa", "bb", "cc", "dd", "ee"];
const KINDS = ["constant", "variable", "function"] as const;

/** Something that a module defines. */
interface Entity {
  readonly kind: (typeof KINDS)[number];
}
/** What names mean at a place; a name that two modules give different meanings has both. */
type Names = Map<string, Set<Entity>>;

interface Module {
  readonly name: string;
  readonly exports: Names;
}

function add(names: Names, name: string, entities: Iterable<Entity>): void {
  names.set(name, new Set([...(names.get(name) ?? []), ...entities]));
}

/** A `use` line, and the names that it brings. */
function use(pick: Pick, { name, exports }: Module, fresh: () => string): { readonly line: string; readonly names: Names } {
  const all = [...exports].filter(([, entities]) => entities.size === 1);
  const names: Names = new Map();
  const renamed = (): string => (pick(2) === 0 ? fresh() : oneOf(pick, NAMES));
  if (all.length > 0 && pick(2) === 0) {
    // Each thing once: two names of one list may not be the same.
    const taken = new Set<string>();
    const items = all.flatMap(([of, entities]) => {
      if (pick(3) === 0) return [];
      const as = pick(3) === 0 ? renamed() : of;
      if (taken.has(as)) return [];
      taken.add(as);
      add(names, as, entities);
      return [as === of ? of : `${as} => ${of}`];
    });
    return { line: `use ${name}, only: ${items.join(", ")}`, names };
  }
  for (const [of, entities] of exports) add(names, of, entities);
  if (all.length === 0 || pick(3) > 0) return { line: `use ${name}`, names };
  const [of, entities] = oneOf(pick, all);
  const as = fresh();
  names.delete(of);
  add(names, as, entities);
  return { line: `use ${name}, ${as} => ${of}`, names };
}

/** Names of several modules, with their `use` lines. */
function uses(pick: Pick, modules: readonly Module[], fresh: () => string): { readonly lines: readonly string[]; readonly names: Names } {
  const used = modules.filter(() => pick(2) === 0);
  const all = used.map((module) => use(pick, module, fresh));
  const names: Names = new Map();
  for (const each of all) for (const [name, entities] of each.names) add(names, name, entities);
  return { lines: all.map(({ line }) => line), names };
}

const MEANINGS = { constant: "real(8), parameter ::", variable: "real(8) ::" } as const;

function moduleOf(
  pick: Pick,
  name: string,
  others: readonly Module[],
  fresh: () => string,
): { readonly module: Module; readonly text: string } {
  const { lines, names } = uses(pick, others, fresh);
  // Own names that no `use` has: the same name for both is an error.
  const own = NAMES.filter((each) => pick(2) === 0 && !names.has(each)).map((each) => ({
    each,
    kind: oneOf(pick, KINDS),
    value: 1 + pick(99),
  }));
  const exports: Names = new Map(names);
  for (const { each, kind } of own) exports.set(each, new Set([{ kind }]));
  const isPrivate = pick(3) === 0;
  // A name with two meanings may not be listed, and gfortran refuses one whose meaning has a second name.
  const namesOf = (entity: Entity): number => [...exports.values()].filter((entities) => entities.has(entity)).length;
  const isPlain = ([entity, ...more]: Iterable<Entity>): boolean => more.length === 0 && namesOf(entity) === 1;
  const named = [...exports].filter(([, entities]) => isPlain(entities) && pick(3) === 0).map(([each]) => each);
  if (isPrivate) for (const each of exports.keys()) if (!named.includes(each)) exports.delete(each);
  if (!isPrivate) for (const each of named) exports.delete(each);
  const access = [
    ...(isPrivate ? ["private"] : []),
    ...(named.length > 0 ? [`${isPrivate ? "public" : "private"} :: ${named.join(", ")}`] : []),
  ];
  const declared = own.flatMap(({ each, kind, value }) => (kind === "function" ? [] : [`${MEANINGS[kind]} ${each} = ${value}`]));
  const functions = own.flatMap(({ each, kind, value }) =>
    kind === "function" ? [`real(8) function ${each}(v)`, "real(8), intent(in) :: v", `${each} = v*${value}`, "end function"] : [],
  );
  const text = [
    `module ${name}`,
    ...lines,
    "implicit none",
    ...access,
    ...declared,
    ...(functions.length > 0 ? ["contains", ...functions] : []),
    "end module",
  ];
  return { module: { name, exports }, text: text.join("\n") };
}

/** The sum of all that is seen in one way; `at`: the number that functions are given. */
function value(names: Names, at = "x(i)"): string {
  const terms = [...names].flatMap(([name, [entity, ...more]]) =>
    more.length > 0 ? [] : [entity.kind === "function" ? `${name}(${at})` : name],
  );
  return [at, ...terms].join(" + ").replaceAll(/(.{60,}?) \+ /g, "$1 + &\n");
}

/** Names of a unit within another: its own, and those of its host that it has no meaning of its own for. */
const within = (inner: Names, host: Names): Names => new Map([...host, ...inner]);

/** A unit's `use` lines and variables, which hide names of its host. */
function scope(
  pick: Pick,
  modules: readonly Module[],
  fresh: () => string,
  host: Names,
): { readonly uses: readonly string[]; readonly locals: readonly string[]; readonly names: Names } {
  const { lines, names } = uses(pick, modules, fresh);
  // gfortran does not let a submodule hide a name with two meanings.
  const locals = NAMES.filter((name) => !names.has(name) && (host.get(name)?.size ?? 1) === 1 && pick(6) === 0);
  for (const name of locals) names.set(name, new Set([{ kind: "variable" }]));
  return { uses: lines, locals, names: within(names, host) };
}

interface Routine {
  readonly name: string;
  /** Whether it may have a function of its own. */
  readonly withInner: boolean;
  readonly prefix?: string;
  readonly host?: Names;
}

const HEAD = ["integer, intent(in) :: n", "real(8) :: x(n), y(n)"];

/** Lines of a routine that assigns `y` what it makes of `x` and the names that it sees, sometimes by a function of its own. */
function routine(
  pick: Pick,
  modules: readonly Module[],
  fresh: () => string,
  { name, withInner, prefix = "", host = new Map() }: Routine,
): string[] {
  const { uses: lines, locals, names } = scope(pick, modules, fresh, host);
  const inner = withInner && pick(3) === 0 ? scope(pick, modules, fresh, names) : undefined;
  const own = (list: readonly string[]): string[] => list.map((each) => `real(8) :: ${each}`);
  const assigned = (list: readonly string[]): string[] => list.map((each) => `${each} = ${1000 * (1 + pick(9))}`);
  const contained = inner && [
    "contains",
    "real(8) function inner(v)",
    ...inner.uses,
    "real(8), intent(in) :: v",
    ...own(inner.locals),
    ...assigned(inner.locals),
    `inner = ${value(inner.names, "v")}`,
    "end function",
  ];
  return [
    `${prefix}subroutine ${name}(n, x, y)`,
    ...lines,
    ...(prefix === "" ? ["implicit none"] : []),
    ...HEAD,
    "integer :: i",
    ...own(locals),
    ...assigned(locals),
    "!$acc parallel loop",
    "do i = 1, n",
    `y(i) = ${inner ? "inner(x(i))" : value(names)}`,
    "end do",
    ...(contained ?? []),
    "end subroutine",
  ];
}

/** A module around a routine, or around a submodule with it; and a routine outside that calls it. */
function hosted(pick: Pick, modules: readonly Module[], fresh: () => string, at: number, withInner: boolean): string[] {
  const module = scope(pick, modules, fresh, new Map());
  const isSub = pick(2) === 0;
  const own = (list: readonly string[]): string[] =>
    list.map((name) => `real(8)${pick(2) === 0 ? ", private" : ""} :: ${name} = ${1 + pick(99)}`);
  const head = [
    `module h${at}`,
    ...module.uses,
    "implicit none",
    ...(pick(2) === 0 ? ["private", "public :: body"] : []),
    ...own(module.locals),
  ];
  const call = [`subroutine s${at}(n, x, y)`, `use h${at}, only: inside => body`, ...HEAD, "call inside(n, x, y)", "end subroutine"];
  if (!isSub)
    return [...head, "contains", ...routine(pick, modules, fresh, { name: "body", withInner, host: module.names }), "end module", ...call];
  const heading = ["interface", "module subroutine body(n, x, y)", ...HEAD, "end subroutine", "end interface"];
  // gfortran does not let a submodule use what its module has a name for.
  const sub = scope(pick, [], fresh, module.names);
  return [
    ...head,
    ...heading,
    "end module",
    `submodule (h${at}) g${at}`,
    ...sub.uses,
    "implicit none",
    ...sub.locals.map((name) => `real(8) :: ${name} = ${1 + pick(99)}`),
    "contains",
    ...routine(pick, modules, fresh, { name: "body", withInner, prefix: "module ", host: sub.names }),
    "end submodule",
    ...call,
  ];
}

/**
 * Modules, and `count` routines `s0(n, x, y)` and so on that assign `y` what they make of `x` and the names that they see; `withInner`: some of them
 * by a function of their own.
 */
export function randomModules(pick: Pick, count: number, withInner: boolean): string {
  let number = 0;
  const fresh = (): string => `n${++number}`;
  const modules: Module[] = [];
  const texts: string[] = [];
  for (let at = 0; at < 5; at++) {
    const { module, text } = moduleOf(pick, `m${at}`, modules, fresh);
    modules.push(module);
    texts.push(text);
  }
  for (let at = 0; at < count; at++) {
    const lines =
      pick(2) === 0 ? hosted(pick, modules, fresh, at, withInner) : routine(pick, modules, fresh, { name: `s${at}`, withInner });
    texts.push(lines.join("\n"));
  }
  return texts.join("\n");
}
