/** A binary heap: values come out in order, whatever the order in which they went in. */
export class Heap<T> {
  private readonly values: T[] = [];

  /** @param before tells whether the first value comes out before the second; values in no order of their own come out in any */
  constructor(private readonly before: (a: T, b: T) => boolean) {}

  push(value: T): void {
    const { values } = this;
    let at = values.push(value) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.before(value, values[parent])) break;
      values[at] = values[parent];
      at = parent;
    }
    values[at] = value;
  }

  /** Takes the first value out; undefined where there is none. */
  pop(): T | undefined {
    const { values } = this;
    const [first] = values;
    const last = values.pop();
    if (values.length > 0) this.sink(last as T);
    return first;
  }

  /** Puts a value at the top, then where it belongs. */
  private sink(value: T): void {
    const { values } = this;
    let at = 0;
    for (let child = 1; child < values.length; child = 2 * at + 1) {
      if (child + 1 < values.length && this.before(values[child + 1], values[child])) child++;
      if (!this.before(values[child], value)) break;
      values[at] = values[child];
      at = child;
    }
    values[at] = value;
  }
}
