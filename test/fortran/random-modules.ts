/*
 * Random modules that use each other's names: private and public ones, `only`, renames, constants, functions; and routines that read what
 * they see. Each name that a routine reads is one that it sees in one way, so that gfortran accepts all.
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

/** The sum of all that a routine sees in one way. */
function value(names: Names): string {
  const terms = [...names].flatMap(([name, [entity, ...more]]) =>
    more.length > 0 ? [] : [entity.kind === "function" ? `${name}(x(i))` : name],
  );
  return ["x(i)", ...terms].join(" + ");
}

/** Modules, and `count` routines `s0(n, x, y)` and so on that assign `y` what they make of `x` and the names that they see. */
export function randomModules(pick: Pick, count: number): string {
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
    const { lines, names } = uses(pick, modules, fresh);
    texts.push(
      [
        `subroutine s${at}(n, x, y)`,
        ...lines,
        "implicit none",
        "integer, intent(in) :: n",
        "real(8) :: x(n), y(n)",
        "integer :: i",
        "!$acc parallel loop",
        "do i = 1, n",
        ...`y(i) = ${value(names)}`.replaceAll(/(.{60,}?) \+ /g, "$1 + &\n").split("\n"),
        "end do",
        "end subroutine",
      ].join("\n"),
    );
  }
  return texts.join("\n");
}
