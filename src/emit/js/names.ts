import { Names as Identifiers } from "../../base/names.js";

/** Identifiers for the names of a kernel; the emitter's own variables start with `$`. */
export class JsNames {
  private readonly kernels = new Identifiers();
  private readonly own = new Identifiers();

  of(name: string): string {
    return this.kernels.of("local", name);
  }

  /** Name of an argument that stands for some property of a parameter. */
  argument(name: string, wish: string): string {
    return this.kernels.of("argument", name, wish);
  }

  /** A new variable of the emitter's, like `$stem`. */
  fresh(stem: string): string {
    return `$${this.own.fresh(stem)}`;
  }
}
