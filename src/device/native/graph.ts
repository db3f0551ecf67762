import { MAX_RANK } from "../../base/rank.js";
import type { CapturedRegion, Transfer } from "../cpu/graph.js";
import { BYTES, type View } from "../memory/view.js";
import type { NativeEntry, Loader } from "./library.js";
import { STEP_SOURCE, type NativeStep } from "./step.js";

/*
 * Graphs on `native`: one call runs the steps, each a function and its argument struct. Copies and clears go through a function of their own.
 */

export const GRAPH_FUNCTIONS = { run: "isoform_run_graph", transfer: "isoform_transfer", step: "isoform_run_step" } as const;

export const GRAPH_SOURCE = `// Runs captured work, written by isoform.
#include <stdint.h>
#include <string.h>
#include <time.h>

${STEP_SOURCE}
void ${GRAPH_FUNCTIONS.step}(struct step *step)
{
  run_step(step);
}

struct graph {
  struct step *const *steps;
  int64_t count;
};

void ${GRAPH_FUNCTIONS.run}(const struct graph *graph)
{
  for (int64_t n = 0; n < graph->count; n++) run_step(graph->steps[n]);
}

/* Rows of \`bytes\` bytes along ${MAX_RANK} axes; without a source they are set to zero. Distances are in bytes. */
struct transfer {
  char *target;
  const char *source;
  int64_t bytes;
  int64_t rows[${MAX_RANK}], target_step[${MAX_RANK}], source_step[${MAX_RANK}];
};

static void transfer(const struct transfer *t, int axis, char *target, const char *source)
{
  if (axis < ${MAX_RANK})
    for (int64_t i = 0; i < t->rows[axis]; i++)
      transfer(t, axis + 1, target + i * t->target_step[axis], source + i * t->source_step[axis]);
  else if (t->source) memmove(target, source, t->bytes);
  else memset(target, 0, t->bytes);
}

void ${GRAPH_FUNCTIONS.transfer}(const struct transfer *t)
{
  transfer(t, 0, t->target, t->source ? t->source : t->target);
}
`;

/** Steps that one call runs. */
export class GraphRegion implements CapturedRegion {
  /** `struct graph`, followed by the addresses of its steps. */
  private readonly list: BigUint64Array<ArrayBuffer>;
  private readonly address: bigint;

  /** @param finish what is left to do when all steps are through */
  constructor(
    readonly remark: string,
    private readonly runGraph: NativeEntry,
    private steps: readonly NativeStep[],
    loader: Loader,
    private readonly finish: () => void,
  ) {
    this.list = new BigUint64Array(new ArrayBuffer(8 * (2 + steps.length)));
    this.address = loader.address(this.list.buffer);
    this.list.set([this.address + 16n, BigInt(steps.length), ...steps.map(({ address }) => address)]);
  }

  run(): void {
    this.runGraph.call(this.address);
    this.finish();
  }

  free(): void {
    this.steps = [];
  }
}

/** `struct transfer`, with `at` to tell the address of a view's first element. */
export function transferArgs({ source, target }: Transfer, at: (view: View) => bigint): ArrayBuffer {
  const element = BYTES[target.type];
  const from = source ?? target;
  let bytes = element;
  let rank = target.rank;
  // Axes that lie without gaps on both sides are one row.
  while (rank > 0 && [target, from].every(({ strides, shape }) => shape[rank - 1] === 1 || strides[rank - 1] * element === bytes))
    bytes *= target.shape[--rank];
  const axes = (of: readonly number[], rest: number) => Array.from({ length: MAX_RANK }, (_, axis) => (axis < rank ? of[axis] : rest));
  const steps = (view: View) =>
    axes(
      view.strides.map((stride) => stride * element),
      0,
    );
  const numbers = [bytes, ...axes(target.shape, 1), ...steps(target), ...steps(from)].map(BigInt);
  return new BigInt64Array([at(target), source ? at(source) : 0n, ...numbers]).buffer;
}
