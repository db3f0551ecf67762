import { LaunchError } from "../base/errors.js";
import { compositeOf, compositeValue } from "../kernel/declare/composite.js";
import { flatCall, namedParts } from "../kernel/declare/flat.js";
import type { Kernel } from "../kernel/declare/kernel.js";

type Values = Readonly<Record<string, unknown>>;

/** Parameters of several numbers, such as vectors and records: code knows each by its parts, and so are their derivatives. */
export class ParameterParts {
  private readonly parts: ReturnType<typeof namedParts>;

  constructor(
    private readonly kernel: Kernel,
    private readonly ending: string,
  ) {
    this.parts = namedParts(kernel.params);
  }

  /** Names of the code by the author's. */
  names(names: readonly string[]): string[] {
    return names.flatMap((name) => this.parts.get(name)?.map((part) => part.name) ?? [name]);
  }

  /** Arguments of the code by the author's. Names that are neither the kernel's nor a derivative's are refused. */
  flat(args: Values, isKnown: (name: string) => boolean): Record<string, unknown> {
    const given: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(args)) {
      const parts = this.parts.get(name);
      const of = name.endsWith(`_${this.ending}`) ? name.slice(0, -this.ending.length - 1) : undefined;
      const barParts = of === undefined ? undefined : this.parts.get(of);
      if (parts) Object.assign(given, this.values(name, value));
      else if (barParts) for (const part of barParts) given[this.derivative(part.name)] = inside(name, value, part.path);
      else if (isKnown(name) || Object.hasOwn(this.kernel.params, name) || (of !== undefined && Object.hasOwn(this.kernel.params, of)))
        given[name] = value;
      else
        throw new LaunchError(
          `the derivative of kernel "${this.kernel.name}" takes no "${name}"; it takes the kernel's arguments, and ${this.ending}s`,
        );
    }
    return given;
  }

  private values(name: string, value: unknown): Values {
    const single = { ...this.kernel, params: { [name]: this.kernel.params[name] } };
    const { args } = flatCall(single, { [name]: value });
    const numbers = namedParts(single.params).get(name)!;
    return Object.fromEntries(this.parts.get(name)!.map((part, n) => [part.name, args[numbers[n].name]]));
  }

  private derivative(name: string): string {
    return `${name}_${this.ending}`;
  }

  /** Results as the author knows the parameters: a vector's in one. */
  results(results: Readonly<Record<string, number>>): Record<string, unknown> {
    const left: Record<string, unknown> = { ...results };
    for (const [name, parts] of this.parts) {
      const names = parts.map((part) => this.derivative(part.name));
      if (!names.every((each) => Object.hasOwn(left, each))) continue;
      const values = names.map((each) => left[each] as number);
      for (const each of names) delete left[each];
      const composite = compositeOf(this.kernel.params[name]);
      left[this.derivative(name)] = composite
        ? compositeValue(composite, values)
        : record(
            parts.map(({ path }) => path),
            values,
          );
    }
    return left;
  }
}

function inside(name: string, value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const field of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, field))
      throw new LaunchError(`${name} has nothing for ${path.join(".")}: give it the fields of its parameter`);
    at = (at as Values)[field];
  }
  return at;
}

function record(paths: readonly (readonly string[])[], values: readonly number[]): object {
  const made: Record<string, unknown> = {};
  for (const [n, path] of paths.entries()) {
    let at = made;
    for (const field of path.slice(0, -1)) at = (at[field] ??= {}) as Record<string, unknown>;
    at[path.at(-1)!] = values[n];
  }
  return made;
}
