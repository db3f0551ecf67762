/* Directives that keep data on a device, of OpenACC and of OpenMP, in one form. */

import { bodiesOf } from "../analyse/visit.js";
import type { Problems } from "../errors.js";
import type { Clause, DataClause, Designator, Directed, Directive, Expr, Stmt } from "../tree/index.js";

/** `addresses`: statements in it are given addresses of the device. */
type DataKind = "region" | "enter" | "exit" | "update" | "declare" | "addresses";

const ACC: Readonly<Record<string, DataKind>> = {
  data: "region",
  enter: "enter",
  exit: "exit",
  update: "update",
  declare: "declare",
  host_data: "addresses",
};

/** Undefined for directives that are not of data alone. */
export function dataKind({ sentinel, words, clauses }: Directive): DataKind | undefined {
  if (words[0] === "end" || sentinel === "cuf") return undefined;
  if (sentinel === "acc") return Object.hasOwn(ACC, words[0]) ? ACC[words[0]] : undefined;
  // `declare target` without a list is for a procedure, which a port gives its own.
  if (words[0] === "declare") return words[1] === "target" && clauses.some(({ kind }) => kind === "data") ? "declare" : undefined;
  if (words[0] !== "target") return undefined;
  const [, second, third] = words;
  if (second === "data") return clauses.some((clause) => clause.kind === "data" && clause.name === "map") ? "region" : "addresses";
  return second === "update" ? "update" : third === "data" && (second === "enter" || second === "exit") ? second : undefined;
}

/** Whether a directive runs what it governs on a device: its data clauses hold for that time. */
export const isCompute = ({ sentinel, words }: Directive): boolean =>
  sentinel === "acc"
    ? ["parallel", "kernels", "serial"].includes(words[0])
    : sentinel === "omp" && words[0] === "target" && !["data", "enter", "exit", "update"].includes(words[1]);

/** Condition on which a construct runs on the device, and otherwise on the host, with the host's values; none if it always does. */
export function conditionsOf(clauses: readonly Clause[]): Clause[] {
  const found = clauses.flatMap((clause) =>
    clause.kind === "condition" && (clause.of === undefined || clause.of === "target") ? [clause.value] : [],
  );
  if (found.length === 0) return [];
  const value = found.reduce((a, b): Expr => ({
    kind: "binary",
    op: ".and.",
    a: { kind: "group", a, at: a.at },
    b: { kind: "group", a: b, at: b.at },
    at: a.at,
  }));
  return [{ kind: "condition", of: "target", value, at: value.at }];
}

/** One variable, section or component of a data directive. */
export interface DataItem {
  readonly object: Designator;
  /** At the beginning, if it is not there yet. */
  readonly enter?: "copyin" | "create" | "present" | "no_create";
  /** At the end, if nothing else holds it. */
  readonly exit?: "copyout" | "delete";
  readonly update?: "self" | "device";
  /** Copied even if it is there already. */
  readonly always?: true;
  /** Held no more, however often it was entered. */
  readonly finalize?: true;
  /** Its address on the device is wanted. */
  readonly address?: true;
  /** It is in the device's memory by itself. */
  readonly given?: true;
  /** Its address alone is on the device, until a clause maps it. */
  readonly link?: true;
  readonly at: DataClause["at"];
}

type Role = Omit<DataItem, "object" | "at">;

const ROLES: Readonly<Record<string, Role>> = {
  copy: { enter: "copyin", exit: "copyout" },
  copyin: { enter: "copyin", exit: "delete" },
  copyout: { enter: "create", exit: "copyout" },
  create: { enter: "create", exit: "delete" },
  present: { enter: "present", exit: "delete" },
  no_create: { enter: "no_create", exit: "delete" },
  delete: { exit: "delete" },
  // Loops are given the addresses of components by themselves, so that no pointer on the device has to be set.
  attach: {},
  detach: {},
  deviceptr: { given: true },
  use_device: { address: true },
  self: { update: "self" },
  host: { update: "self" },
  device: { update: "device" },
  device_resident: { enter: "create", exit: "delete" },
  link: { link: true },
  use_device_ptr: { address: true },
  use_device_addr: { address: true },
  is_device_ptr: { given: true },
  has_device_addr: { given: true },
  // `update to(a)`, `declare target to(a)`.
  to: { update: "device", enter: "copyin" },
  enter: { enter: "copyin" },
  from: { update: "self" },
  "": { enter: "copyin" },
};

const MAPS: Readonly<Record<string, Role>> = {
  tofrom: ROLES.copy,
  to: ROLES.copyin,
  from: ROLES.copyout,
  alloc: ROLES.create,
  release: { exit: "delete" },
  delete: { exit: "delete", finalize: true },
};

/** The variables of a directive's clauses; clauses that cannot be kept are added to `problems`. */
export function dataItems({ clauses }: Pick<Directive, "clauses">, problems: Problems): DataItem[] {
  const all = clauses.some((clause) => clause.kind === "other" && clause.name === "finalize") ? ({ finalize: true } as const) : {};
  return clauses.flatMap((clause) => {
    if (clause.kind !== "data") return refuseUnread(clause, problems);
    const role = roleOf(clause);
    const unknown = clause.modifiers.find((word) => !MODIFIERS.includes(word) && !(clause.name === "map" && Object.hasOwn(MAPS, word)));
    if (unknown !== undefined || !role) {
      problems.add(
        clause.at,
        `${clause.name}(${unknown ?? ""}:)`,
        "the modifier is not supported",
        "copy or assign the values by statements",
      );
      return [];
    }
    const always = clause.modifiers.includes("always") ? ({ always: true } as const) : {};
    return clause.objects.map((object): DataItem => ({ object, ...role, ...all, ...always, at: clause.at }));
  });
}

/** These change no values, but for `always`. */
const MODIFIERS: readonly string[] = ["always", "readonly", "present", "close"];

function roleOf({ name, modifiers }: DataClause): Role | undefined {
  if (name === "map") return MAPS[modifiers.find((word) => Object.hasOwn(MAPS, word)) ?? "tofrom"];
  const word = name.replace(/^(present_or_|p(?=copy|create))/, "");
  return Object.hasOwn(ROLES, word) ? ROLES[word] : undefined;
}

const NO_DATA: readonly string[] = ["", "to", "from", "self", "host", "device", "link"];

function refuseUnread(clause: Clause, problems: Problems): [] {
  if (clause.kind !== "other" || NO_DATA.includes(clause.name)) return [];
  const isData = clause.name === "map" || Object.hasOwn(ROLES, clause.name.replace(/^(present_or_|p(?=copy|create))/, ""));
  if (isData)
    problems.add(clause.at, `${clause.name}(${clause.text})`, "its list is not one of variables", "name each variable, without modifiers");
  return [];
}

/** Clauses of the directives before a loop. */
export const clausesIn = (s: Stmt): Directive["clauses"] =>
  s.kind === "directed" ? [...s.directive.clauses, ...s.body.flatMap((inner) => clausesIn(inner))] : [];

/** Whether a loop runs on the host where others run on a device, with the host's own values: in `parallel do`, in `do concurrent`. */
export function isHosts(s: Directed, around: readonly Directive[]): boolean {
  const isDevices = (each: Directive): boolean =>
    each.sentinel === "cuf" || isCompute(each) || (each.sentinel === "acc" && each.words[0] === "loop");
  return ![...around, ...directivesIn(s)].some(isDevices);
}

const directivesIn = (s: Stmt): Directive[] => [
  ...(s.kind === "directed" ? [s.directive] : []),
  ...bodiesOf(s).flatMap((body) => body.flatMap(directivesIn)),
];
