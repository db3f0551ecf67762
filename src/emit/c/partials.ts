import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam } from "../../ir/types.js";
import type { BodyWriter } from "./body.js";
import type { Code } from "./code.js";
import { openmpDialect } from "./openmp-dialect.js";
import { writeFoldInto } from "./openmp-frame.js";

/* Partial results of a reduction on CPUs, one for each chunk of a line: see docs/determinism.md. */

/** C expressions for the first index of an axis and the one after its last. */
export type ChunkBounds = readonly [begin: string, end: string];

/** A C expression for the chunks of a line. */
export function chunkCount([begin, end]: ChunkBounds): string {
  return `(${end} - ${begin} + ${REDUCTION_CHUNK - 1}) / ${REDUCTION_CHUNK}`;
}

/** Declares the outer indices of the chunk `partial`, of `chunks` in each line, and the bounds `begin` and `end` of its elements. */
export function writeChunkIndices(code: Code, indices: readonly string[], bounds: readonly ChunkBounds[]): void {
  const inner = indices.length - 1;
  if (inner > 0) code.line("int64_t line = partial / chunks;");
  for (let axis = inner - 1; axis > 0; axis--) {
    const [begin, end] = bounds[axis];
    code.line(`const int64_t ${indices[axis]} = ${begin} + line % (${end} - ${begin});`);
    code.line(`line /= ${end} - ${begin};`);
  }
  if (inner > 0) code.line(`const int64_t ${indices[0]} = ${bounds[0][0]} + line;`);
  const [first, stop] = bounds[inner];
  code.line(`const int64_t begin = ${first} + partial % chunks * ${REDUCTION_CHUNK};`);
  code.line(`const int64_t end = begin + ${REDUCTION_CHUNK} < ${stop} ? begin + ${REDUCTION_CHUNK} : ${stop};`);
}

/**
 * The function `name_fold`, a tree over the partials: chunk after chunk of 256, level after level, until one is left. Of a joint reduction it takes the
 * partials of the other parts, too, and leaves the results of all parts in the first partials.
 */
export function writeFold(writer: BodyWriter, parts: readonly ReduceParam[], name: string): void {
  const { code } = writer;
  const types = parts.map(({ type }) => openmpDialect.types[type]);
  const identities = parts.map(({ type, identity }) => writer.value({ op: "const", type, value: identity }));
  const [arrays, lanes] = ["partials", "lanes"].map((stem) => parts.map((_, n) => (n === 0 ? stem : `${stem}${n}`)));
  const others = arrays.slice(1).map((array, n) => `, ${types[n + 1]} *${array}`);
  const fold = (into: string, value: string, from: readonly string[]): void =>
    writeFoldInto(
      writer,
      parts,
      lanes.map((lane) => `${lane}[${into}]`),
      from.map((place) => `${place}[${value}]`),
    );
  code
    .block(`static ${types[0]} ${name}_fold(${types[0]} *partials, int64_t count${others.join("")})`, () => {
      code.line(`if (count == 0) return ${identities[0]};`);
      code.block(`for (; count > 1; count = (count + ${REDUCTION_CHUNK - 1}) / ${REDUCTION_CHUNK})`, () => {
        code.block(`for (int64_t begin = 0; begin < count; begin += ${REDUCTION_CHUNK})`, () => {
          code.line(`const int64_t end = begin + ${REDUCTION_CHUNK} < count ? begin + ${REDUCTION_CHUNK} : count;`);
          parts.forEach((_, n) =>
            code.line(`${types[n]} ${lanes[n]}[${REDUCTION_LANES}] = {${Array(REDUCTION_LANES).fill(identities[n]).join(", ")}};`),
          );
          code.block("for (int64_t n = begin; n < end; n++)", () => fold(`n % ${REDUCTION_LANES}`, "n", arrays));
          code.block(`for (int step = ${REDUCTION_LANES / 2}; step > 0; step /= 2)`, () =>
            code.block("for (int k = 0; k < step; k++)", () => fold("k", "k + step", lanes)),
          );
          arrays.forEach((array, n) => code.line(`${array}[begin / ${REDUCTION_CHUNK}] = ${lanes[n]}[0];`));
        });
      });
      code.line("return partials[0];");
    })
    .line();
}

/** Lines that put the folds of partials into their places: of parts, whose partials are given in their order, each into its own. */
export function foldLines(
  writer: BodyWriter,
  parts: readonly ReduceParam[],
  of: { readonly name: string; readonly partials: readonly string[]; readonly count: string; readonly results: readonly string[] },
): string[] {
  const { name, partials, count, results } = of;
  const [first, ...others] = partials;
  return [
    `${results[0]} = ${name}_fold(${[first, count, ...others].join(", ")});`,
    ...others.map((array, n) => {
      const { type, identity } = parts[n + 1];
      return `${results[n + 1]} = ${count} > 0 ? ${array}[0] : ${writer.value({ op: "const", type, value: identity })};`;
    }),
  ];
}
