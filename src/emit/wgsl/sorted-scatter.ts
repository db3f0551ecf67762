import type { ScatterParam } from "../../ir/types.js";
import { TEMPORARY, viewPlace, WORKGROUP, type ShaderEntry, type LaunchField } from "./shader-program.js";
import { LINEAR_WORKGROUP } from "./folds.js";
import { EntryWriter, type ProgramWriter } from "./writer.js";

/**
 * Adds contributions, sorted by their target and in element order for each, to a scatter array: the invocation at the first contribution
 * to an element takes them all, one after the other.
 */
export class ApplyWriter extends EntryWriter {
  protected readonly indexNames: readonly string[] = [];

  constructor(
    program: ProgramWriter,
    private readonly target: ScatterParam,
  ) {
    super(program, `apply_${target.name}`);
  }

  reduce(): void {
    throw new Error("sorted contributions are not reduced");
  }

  entry(): ShaderEntry {
    const { code, target } = this;
    const { element: type, name } = target;
    const count = this.field({ kind: "contributionCount", name }, "i32", "count");
    const key = (at: string) => this.read(TEMPORARY, "u32", `${this.field({ kind: "sortedKeys", name }, "i32", "keys")} + ${at}`);
    code.line(`var at = ${LINEAR_WORKGROUP} * ${WORKGROUP} + i32(thread_number);`);
    code.line(`if at >= ${count} { return; }`);
    code.line(`let key = ${key("at")};`);
    code.line("if key == 0u { return; }");
    code.line(`if at > 0 { if ${key("at - 1")} == key { return; } }`);
    code.line(`let offset_of_key = ${this.offsetOf(name, "i32(key - 1u)")};`);
    code.line(`var total = ${this.read(viewPlace(name), type, "offset_of_key")};`);
    code.block("loop", () => {
      const order = this.read(TEMPORARY, "u32", `${this.field({ kind: "sortedOrder", name }, "i32", "order")} + at`);
      code.line(
        this.foldInto(
          target.op,
          type,
          "total",
          this.read(TEMPORARY, type, `${this.field({ kind: "values", name }, "i32", "values")} + i32(${order})`),
        ),
      );
      code.line("at += 1;");
      code.line(`if at >= ${count} { break; }`);
      code.line(`if ${key("at")} != key { break; }`);
    });
    code.line(this.write(viewPlace(name), type, "offset_of_key", "total"));
    return this.finish([WORKGROUP, 1, 1]);
  }
}

/** Brings the two parts of each element of an emulated f64 array, to which atomic sums were added, to the form that arithmetic expects. */
export class RenormaliseWriter extends EntryWriter {
  protected readonly indexNames: readonly string[] = [];

  constructor(
    program: ProgramWriter,
    private readonly target: ScatterParam,
  ) {
    super(program, `renormalise_${target.name}`);
  }

  reduce(): void {
    throw new Error("sums are renormalised, not reduced");
  }

  entry(): ShaderEntry {
    const { code } = this;
    const { name, element } = this.target;
    code.line(`let at = ${LINEAR_WORKGROUP} * ${WORKGROUP} + i32(thread_number);`);
    code.line(`if at >= ${this.field({ kind: "size", name }, "i32", "size")} { return; }`);
    code.line(`let offset_of_element = ${this.offsetOf(name, "at")};`);
    code.line(`let parts = ${this.read(viewPlace(name), element, "offset_of_element")};`);
    for (const helper of ["range_checked", "quick_sum"] as const) this.helpers.use(helper);
    code.line(this.write(viewPlace(name), element, "offset_of_element", "range_checked(quick_sum(parts.x, parts.y), parts.x)"));
    return this.finish([WORKGROUP, 1, 1]);
  }
}

/** Bits of a digit of the sort, and keys that a workgroup moves in one pass. */
export const WGSL_SORT_BITS = 8;
export const WGSL_SORT_TILE = 1024;

const SORT_HEAD = `struct Launch {
  keys: i32, order: i32, sorted_keys: i32, sorted_order: i32, counts: i32, totals: i32,
  count: i32, tiles: i32, shift: u32, first_pass: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> memory: array<u32>;
fn tile_of(workgroup: vec3<u32>, workgroups: vec3<u32>) -> i32 { return i32(workgroup.y * workgroups.x + workgroup.x); }
fn digit_at(n: i32) -> u32 { return (memory[launch.keys + n] >> launch.shift) & 255u; }
`;

/** Parameters of a pass of the sort: as in c/gpu/sort.ts, and whether it is the first, whose keys have no order yet. */
export interface WgslSortSlot {
  readonly kind: "keys" | "order" | "sortedKeys" | "sortedOrder" | "counts" | "totals" | "count" | "tiles" | "shift" | "firstPass";
}

const fields = (type: "i32" | "u32", ...kinds: WgslSortSlot["kind"][]): LaunchField<WgslSortSlot>[] =>
  kinds.map((kind) => ({ slot: { kind }, type }));

const SORT_FIELDS = [
  ...fields("i32", "keys", "order", "sortedKeys", "sortedOrder", "counts", "totals", "count", "tiles"),
  ...fields("u32", "shift", "firstPass"),
];

const sortEntry = (name: string, text: string): ShaderEntry<WgslSortSlot> => ({
  name,
  source: `// ${name}: a stable sort of 32-bit keys with their positions, by digits of ${WGSL_SORT_BITS} bits from the lowest up; written by isoform.
${SORT_HEAD}
${text}`,
  fields: SORT_FIELDS,
  buffers: [{ group: 0, written: true }],
  workgroup: [WORKGROUP, 1, 1],
  workgroupBytes: 2 * 4 * WORKGROUP,
});

/** Tiles count their digits; the counts of a digit are summed over the tiles; tiles move their keys, 256 at a time and in order. */
export const SORT = {
  count: sortEntry(
    "sort_count",
    `var<workgroup> digits: array<atomic<u32>, 256>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let tile = tile_of(workgroup, workgroups);
  let stop = min((tile + 1) * ${WGSL_SORT_TILE}, launch.count);
  for (var n = tile * ${WGSL_SORT_TILE} + i32(thread); n < stop; n += 256) { atomicAdd(&digits[digit_at(n)], 1u); }
  workgroupBarrier();
  if tile < launch.tiles { memory[launch.counts + i32(thread) * launch.tiles + tile] = atomicLoad(&digits[thread]); }
}
`,
  ),
  scan: sortEntry(
    "sort_scan",
    `var<workgroup> sums: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) workgroup: vec3<u32>) {
  let row = launch.counts + i32(workgroup.x) * launch.tiles;
  var before = 0u;
  for (var first = 0; first < launch.tiles; first += 256) {
    let n = first + i32(thread);
    var own = 0u;
    if n < launch.tiles { own = memory[row + n]; }
    sums[thread] = own;
    workgroupBarrier();
    for (var step = 1u; step < 256u; step *= 2u) {
      var left = 0u;
      if thread >= step { left = sums[thread - step]; }
      workgroupBarrier();
      sums[thread] += left;
      workgroupBarrier();
    }
    if n < launch.tiles { memory[row + n] = before + sums[thread] - own; }
    before += sums[255];
    workgroupBarrier();
  }
  if thread == 0u { memory[launch.totals + i32(workgroup.x)] = before; }
}
`,
  ),
  move: sortEntry(
    "sort_move",
    `var<workgroup> places: array<u32, 256>;
var<workgroup> tile_digits: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let tile = tile_of(workgroup, workgroups);
  if tile < launch.tiles {
    var below = 0u;
    for (var d = 0; d < i32(thread); d += 1) { below += memory[launch.totals + d]; }
    places[thread] = below + memory[launch.counts + i32(thread) * launch.tiles + tile];
  }
  for (var first = 0; first < ${WGSL_SORT_TILE}; first += 256) {
    let n = tile * ${WGSL_SORT_TILE} + first + i32(thread);
    let valid = n < launch.count;
    var digit = 256u;
    if valid { digit = digit_at(n); }
    tile_digits[thread] = digit;
    workgroupBarrier();
    var earlier = 0u;
    var later = 0u;
    for (var other = 0u; other < 256u; other += 1u) {
      if tile_digits[other] == digit {
        if other < thread { earlier += 1u; }
        if other > thread { later += 1u; }
      }
    }
    var to = 0;
    if valid { to = i32(places[digit] + earlier); }
    workgroupBarrier();
    if valid {
      memory[launch.sorted_keys + to] = memory[launch.keys + n];
      var position = u32(n);
      if launch.first_pass == 0u { position = memory[launch.order + n]; }
      memory[launch.sorted_order + to] = position;
      if later == 0u { places[digit] += earlier + 1u; }
    }
    workgroupBarrier();
  }
}
`,
  ),
};
