import { LaunchError } from "../../base/errors.js";
import { describe } from "../../base/describe.js";
import { ELEMENTS } from "../../ir/scalars.js";
import { componentsOfValue, compositeOf, compositePlace, type ComponentType, type CompositeToken } from "./composite.js";
import type { Elements } from "./body.js";

/**
 * An array of `length` vectors, matrices and the like of an element's own, all components 0 at first: `const q = array(vec3, 8)`. Hand it to a kernel as
 * `mulhi`; there the length is a constant.
 *
 * @throws LaunchError for an index outside, or a value of another type
 */
export function array<P>(of: CompositeToken<unknown, P, ComponentType, never>, length: number): Elements<P> {
  const type = compositeOf(of);
  if (!type)
    throw new LaunchError(
      `array takes a type of vectors, matrices and the like, and is given ${describe(of)}; write array(vec3, 8), or new Float64Array(8)`,
    );
  const numbers = new ELEMENTS[type.element].array(length * type.fields.length);
  const elementAt = (k: number): P => {
    const first = k * type.fields.length;
    const now = numbers.slice(first, first + type.fields.length);
    return compositePlace(
      type,
      (n) => now[n],
      (n, value) => (numbers[first + n] = Number(value)),
    ) as P;
  };
  const placeOf = (key: string): number => {
    const k = Number(key);
    if (Number.isInteger(k) && k >= 0 && k < length) return k;
    throw new LaunchError(`index ${key} is outside an array of ${length} ${type.name}`);
  };
  const entries = (): [number, P][] => Array.from({ length }, (_, k) => [k, elementAt(k)]);
  return new Proxy({} as Elements<P>, {
    get(_, key) {
      if (key === Symbol.iterator)
        return () =>
          entries()
            .map(([, value]) => value)
            [Symbol.iterator]();
      if (typeof key === "symbol") return undefined;
      if (key === "length") return length;
      return key === "entries" ? entries : elementAt(placeOf(key));
    },
    set(_, key, value) {
      if (typeof key === "symbol") return false;
      const k = placeOf(key);
      numbers.set(componentsOfValue(type, value, `element ${k} is`), k * type.fields.length);
      return true;
    },
  });
}
