/** The name of the method by which Node's `util.inspect`, and so `console.log`, prints an object. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");
