import { basename, dirname, join } from "node:path";
import { LaunchError, DeviceError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { LibraryProduct } from "../device.js";
import { openLibrary, type Library } from "../ffi.js";
import { OwnWork } from "../gpu/own-work.js";
import { addressOf } from "../gpu/values.js";
import { teams } from "../launch/policy.js";
import { BYTES, type View } from "../memory/view.js";
import type { Handle } from "./calls.js";
import type { CudaGpu } from "./gpu.js";
import { findCublas } from "./library.js";

/** Bytes of memory that cuBLAS gets for each launch, as NVIDIA recommends for Hopper GPUs: with memory of its own it could not be captured in graphs. */
const WORKSPACE = 32 << 20;

/** Greatest size and stride of a row. */
const MOST = 2 ** 31 - 1;

/** Numbers of cuBLAS for a matrix as it lies, and one with rows and columns exchanged. */
const [AS_IT_LIES, TRANSPOSED] = [0, 1];

/** A matrix by columns, as cuBLAS takes it: elements from one column to the next, from one of a batch to the next, and whether it is exchanged. */
interface ByColumns {
  readonly address: number;
  readonly op: number;
  readonly leading: number;
  readonly batch: number;
}

/** NVIDIA's library of matrix products, on one GPU. */
class Cublas {
  readonly remark: string;
  private readonly handle: bigint;
  private readonly functions: Readonly<Record<"setStream" | "setWorkspace" | "f64" | "f32", (...args: never[]) => number>>;
  private readonly words: (status: number) => string;

  constructor(
    private readonly gpu: CudaGpu,
    { handle: library, path }: Library,
  ) {
    this.words = library.func("const char *cublasGetStatusString(int status)") as (status: number) => string;
    const product = (letter: string, type: string): string =>
      `int cublas${letter}gemmStridedBatched(uint64_t handle, int opA, int opB, int m, int n, int k, ${type} *alpha, uint64_t a, int lda, int64_t strideA, ` +
      `uint64_t b, int ldb, int64_t strideB, ${type} *beta, uint64_t c, int ldc, int64_t strideC, int count)`;
    this.functions = {
      setStream: library.func("int cublasSetStream_v2(uint64_t handle, uint64_t stream)"),
      setWorkspace: library.func("int cublasSetWorkspace_v2(uint64_t handle, uint64_t memory, size_t bytes)"),
      f64: library.func(product("D", "double")),
      f32: library.func(product("S", "float")),
    };
    const made = new BigUint64Array(1);
    gpu.starts("cublasCreate");
    this.check("cublasCreate", (library.func("int cublasCreate_v2(void *handle)") as (to: BigUint64Array) => number)(made));
    this.handle = made[0];
    const version = new Int32Array(1);
    (library.func("int cublasGetVersion_v2(uint64_t handle, void *version)") as (of: bigint, to: Int32Array) => number)(
      this.handle,
      version,
    );
    this.remark = `a product by cuBLAS ${Math.floor(version[0] / 10000)}.${Math.floor(version[0] / 100) % 100}, ${path}`;
  }

  /** Enqueues the product. */
  multiply(
    stream: Handle,
    workspace: number,
    { a, c, alpha, beta }: LibraryProduct,
    sides: Readonly<Record<"a" | "b" | "c", ByColumns>>,
  ): void {
    const { functions, handle } = this;
    const [batches, m, n] = c.shape;
    const [factor, share] = [alpha, beta].map((value) => (c.type === "f64" ? Float64Array.of(value) : Float32Array.of(value)));
    this.gpu.capture?.afterKernel.delete(stream);
    this.check("cublasSetStream", functions.setStream(...([handle, stream] as never[])));
    this.check("cublasSetWorkspace", functions.setWorkspace(...([handle, workspace, WORKSPACE] as never[])));
    const matrix = ({ address, leading, batch }: ByColumns): number[] => [address, leading, batch];
    // Rows of c are columns to cuBLAS: it gets c transposed, which is b transposed times a transposed.
    const args = [
      handle,
      sides.b.op,
      sides.a.op,
      n,
      m,
      a.shape[2],
      factor,
      ...matrix(sides.b),
      ...matrix(sides.a),
      share,
      ...matrix(sides.c),
      batches,
    ];
    this.check("cublasGemmStridedBatched", functions[c.type](...(args as never[])));
  }

  private check(call: string, status: number): void {
    if (status !== 0)
      throw new DeviceError(
        this.gpu.name,
        `${call} failed: ${this.words(status)} (${status})`,
        "leave out library, and report it if sizes are usual",
      );
  }
}

const opened = new WeakMap<CudaGpu, Cublas>();

/** The library on a GPU, loaded on first use. Throws LaunchError where it is not installed. */
function cublasOn(gpu: CudaGpu): Cublas {
  const known = opened.get(gpu);
  if (known) return known;
  const { koffi } = gpu.driver;
  const { files, names } = findCublas();
  // A part of it, which the loader finds nowhere else.
  for (const file of files.slice(0, 1)) openLibrary(koffi, [], [join(dirname(file), basename(file).replace("cublas", "cublasLt"))]);
  const library = openLibrary(koffi, [], files) ?? openLibrary(koffi, names, []);
  if (!library)
    throw new LaunchError(
      `gemm with library "cublas": libcublas was not found in ${[...new Set(files.map(dirname)), "the loader's path"].join(", ")}: install the CUDA toolkit, set ISOFORM_CUDA_LIBRARIES to the folder of libcublas, or leave out library`,
    );
  const cublas = new Cublas(gpu, library);
  opened.set(gpu, cublas);
  return cublas;
}

/** A matrix of rows for a library of columns: transposed as it lies. Throws LaunchError where neither rows nor columns are contiguous. */
function byColumns(name: string, matrix: View<"f64" | "f32", 3>): ByColumns {
  const [, rows, columns] = matrix.shape;
  const [batch, row, column] = matrix.strides;
  const inRows = column === 1 || columns === 1;
  if (!inRows && row !== 1 && rows !== 1)
    throw new LaunchError(
      `gemm with library "cublas": neither rows nor columns of ${name} are contiguous (strides ${row} and ${column}): copy it, or leave out library`,
    );
  const [leading, least, count] = inRows ? [row, columns, rows] : [column, rows, columns];
  // A matrix of one row may have any stride, which cuBLAS wants to be as long as the row.
  if (count > 1 && leading < least)
    throw new LaunchError(
      `gemm with library "cublas": rows of ${name} lie ${leading} elements apart and have ${least}: copy it, or leave out library`,
    );
  if (Math.max(leading, rows, columns) > MOST)
    throw new LaunchError(`gemm with library "cublas": ${name} is larger than cuBLAS counts (${MOST}): leave out library`);
  return { address: addressOf(matrix), op: inRows ? AS_IT_LIES : TRANSPOSED, leading: Math.max(leading, least, 1), batch };
}

/** A product by cuBLAS. Throws LaunchError where it is not installed, and where a matrix does not lie as it wants. */
export function cublasProduct(gpu: CudaGpu, product: LibraryProduct, kernel: Kernel): OwnWork {
  const { a, b, c } = product;
  const sides = { a: byColumns("a", a), b: byColumns("b", b), c: byColumns("c", c) };
  if (sides.c.op !== AS_IT_LIES)
    throw new LaunchError('gemm with library "cublas": rows of c are not contiguous: give a c of rows, or leave out library');
  const cublas = cublasOn(gpu);
  const [batches, m, n] = c.shape;
  const inner = a.shape[2];
  const moved = [a, b, c].reduce((sum, view) => sum + (view.strides[0] === 0 ? view.size / batches : view.size), 0);
  return new OwnWork(gpu, {
    what: "a product",
    kernel,
    policy: teams(batches),
    cost: { flops: 2 * batches * m * n * inner, bytes: BYTES[c.type] * moved },
    remarks: [cublas.remark],
    read: [a, b],
    written: [c],
    source: `// ${cublas.remark}\n`,
    bytes: WORKSPACE,
    steps: (workspace) => [{ enqueue: (stream) => cublas.multiply(stream, workspace, product, sides) }],
  });
}
