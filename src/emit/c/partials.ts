import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam } from "../../ir/types.js";
import type { BodyWriter } from "./body.js";
import type { Code } from "./code.js";
import { openmpDialect } from "./openmp-dialect.js";

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

/** The function `name_fold`, a tree over the partials: chunk after chunk of 256, level after level, until one is left. */
export function writeFold(writer: BodyWriter, param: ReduceParam, name: string): void {
  const { code } = writer;
  const T = openmpDialect.types[param.type];
  const op = param.op === "custom" ? param.combine! : param.op;
  const identity = writer.value({ op: "const", type: param.type, value: param.identity });
  code
    .block(`static ${T} ${name}_fold(${T} *partials, int64_t count)`, () => {
      code.line(`if (count == 0) return ${identity};`);
      code.block(`for (; count > 1; count = (count + ${REDUCTION_CHUNK - 1}) / ${REDUCTION_CHUNK})`, () => {
        code.block(`for (int64_t begin = 0; begin < count; begin += ${REDUCTION_CHUNK})`, () => {
          code.line(`const int64_t end = begin + ${REDUCTION_CHUNK} < count ? begin + ${REDUCTION_CHUNK} : count;`);
          code.line(`${T} lanes[${REDUCTION_LANES}] = {${Array(REDUCTION_LANES).fill(identity).join(", ")}};`);
          code.line(
            `for (int64_t n = begin; n < end; n++) lanes[n % ${REDUCTION_LANES}] = ${writer.fold(op, param.type, `lanes[n % ${REDUCTION_LANES}]`, "partials[n]")};`,
          );
          code.line(`for (int step = ${REDUCTION_LANES / 2}; step > 0; step /= 2)`);
          code.indented(() =>
            code.line(`for (int k = 0; k < step; k++) lanes[k] = ${writer.fold(op, param.type, "lanes[k]", "lanes[k + step]")};`),
          );
          code.line(`partials[begin / ${REDUCTION_CHUNK}] = lanes[0];`);
        });
      });
      code.line("return partials[0];");
    })
    .line();
}
