import { FAULT } from "../../ir/passes/check-indices.js";
import type { BodyWriter } from "./body.js";
import type { Names } from "../../base/names.js";

/** How code for one thread a time keeps an element's first failure: in two variables, which are looked at when the element is done. */
export class Faults {
  /** The site counted from 1; 0 where no index was outside. */
  readonly failed: string;
  private readonly index: string;

  /**
   * @param record the pointer to the record
   * @param element the element's indices along the axes of the range, or the team's rank
   */
  constructor(
    names: Names,
    private readonly record: string,
    private readonly element: readonly string[],
  ) {
    this.failed = names.fresh("failed");
    this.index = names.fresh("failed_index");
  }

  /** Writes what an element does, and what notes its failure. */
  around({ code }: BodyWriter, write: () => void): void {
    code.line(`int32_t ${this.failed} = 0, ${this.index} = 0;`);
    write();
    const element = Array.from({ length: 4 }, (_, axis) => this.element[axis] ?? "0").join(", ");
    code.line(`if (__builtin_expect(${this.failed}, 0)) ${NOTE}(${this.record}, ${this.failed} - 1, ${this.index}, ${element});`);
  }

  fault(site: number, at: string): string {
    return `(void)(${this.failed} ? 0 : (${this.index} = ${at}, ${this.failed} = ${site + 1}))`;
  }
}

const NOTE = "note_fault";

/** A function that keeps the failure of the first element, and of that the first site, in the record of a launch. */
export const NOTE_FAULT = `__attribute__((noinline, cold)) static void ${NOTE}(int32_t *record, int32_t site, int32_t index, int32_t i, int32_t j, int32_t k, int32_t l) {
  while (__atomic_exchange_n(record + ${FAULT.lock}, 1, __ATOMIC_ACQUIRE)) {}
  const int32_t fault[] = {i, j, k, l, site}, *const known = record + ${FAULT.element};
  int axis = 0;
  while (axis < 4 && fault[axis] == known[axis]) axis++;
  const int32_t before = axis < 4 ? known[axis] : record[${FAULT.site}];
  if (!record[${FAULT.failed}] || fault[axis] < before) {
    record[${FAULT.failed}] = 1;
    record[${FAULT.site}] = site;
    record[${FAULT.index}] = index;
    for (axis = 0; axis < 4; axis++) record[${FAULT.element} + axis] = fault[axis];
  }
  __atomic_store_n(record + ${FAULT.lock}, 0, __ATOMIC_RELEASE);
}
`;
