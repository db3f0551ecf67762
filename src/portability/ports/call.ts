import { layOut, type StructField, type StructFieldType } from "../../emit/c/arguments.js";
import { openmpDialect } from "../../emit/c/openmp-dialect.js";
import type { EmitRequest } from "../../emit/standalone/index.js";
import { launchArguments, type Argument } from "../../emit/standalone/signature.js";
import { Names } from "../../base/names.js";
import type { SignatureSlot } from "../../schedule/slots.js";
import type { ScalarType } from "../../ir/types.js";
import type { Port } from "./names.js";

/** Function that calls an emitted launch function with the members of a struct. */
export interface PortCall {
  /** Source to be compiled after the emitted file. */
  readonly source: string;
  /** The function of `source`, which takes the struct's address. */
  readonly entry: string;
  /** The struct's members. Results are in the struct itself, and so is what the launch function returns. */
  readonly fields: readonly StructField<PortSlot>[];
  /** Bytes. */
  readonly size: number;
}

/** Values of the struct's members: arguments, the stream of a GPU, and the status that the launch function returns. */
export type PortSlot = SignatureSlot | { readonly kind: "stream" | "status" };

/** The struct's status where the launch function has thrown; its message went to standard error. */
export const THREW = -1;

const ENTRY = "port_call";

/** How a port's launch function is called: its last arguments, and the statements around the call. */
interface Calling {
  readonly headers?: readonly string[];
  readonly more?: readonly string[];
  readonly before?: string;
  /** The launch function returns a status. */
  readonly status: boolean;
  /** After the call, to wait for the kernel's end; `launched` is what the function gave. */
  readonly after?: string;
}

const CPP: Calling = { status: true };
const CALLING: Readonly<Record<Port, Calling>> = {
  c: CPP,
  "omp-target": CPP,
  openacc: CPP,
  stdpar: CPP,
  kokkos: {
    headers: ["cstdlib"],
    before: [
      "if (!Kokkos::is_initialized()) {",
      "      Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));",
      "      std::atexit(Kokkos::finalize);",
      "    }",
      "    const Kokkos::DefaultExecutionSpace space;",
    ].join("\n"),
    more: ["space"],
    status: false,
    after: "space.fence();",
  },
  sycl: {
    before: "static sycl::queue queue{sycl::property::queue::in_order()};",
    more: ["queue"],
    status: false,
    after: "queue.wait_and_throw();",
  },
  cuda: { more: ["(cudaStream_t)a->stream"], status: true },
  hip: { more: ["(hipStream_t)a->stream"], status: true },
};

/** The call of the launch function in the files of a port that `request` is emitted to. */
export function portCall(port: Port, request: EmitRequest): PortCall {
  const args = launchArguments(request, new Names());
  const results = new Map<string, StructFieldType>(
    request.ir.params.flatMap((p) => (p.kind === "reduce" ? [[p.name, p.type] as const] : [])),
  );
  const member = (slot: PortSlot, name: string, type: StructFieldType) => ({ slot, name, type, declared: declaredAs(type), length: 1 });
  const { fields, size } = layOut<PortSlot>([
    ...args.map((arg, n) => member(arg.slot, `a${n}`, arg.slot.kind === "result" ? results.get(arg.slot.name)! : fieldType(arg))),
    member({ kind: "stream" }, "stream", "pointer"),
    member({ kind: "status" }, "status", "i32"),
  ]);
  const members = fields.map(({ declared, name }) => `  ${declared}${name};`);
  const { headers = [], more = [], before, status, after } = CALLING[port];
  const values = args.map(({ slot, type, element, written }, n) => {
    if (slot.kind === "result") return `&a->a${n}`;
    return type === "pointer" ? `(${written ? "" : "const "}${openmpDialect.types[element!]} *)a->a${n}` : `a->a${n}`;
  });
  const call = `${status ? "a->status = " : ""}${request.stem}_launch(${[...values, ...more].join(", ")});`;
  const statements = [...(before === undefined ? [] : [before]), call, ...(after === undefined ? [] : [after])].map(
    (line) => `    ${line}`,
  );
  const source = port === "c" || port === "omp-target" ? inC(members, statements) : inCpp(headers, members, statements);
  return { source: source.join("\n"), entry: ENTRY, fields, size };
}

const inC = (members: readonly string[], statements: readonly string[]): string[] => [
  "struct port_arguments {",
  ...members,
  "};",
  "",
  `void ${ENTRY}(struct port_arguments *a) {`,
  ...statements,
  "}",
  "",
];

/** Exceptions may not leave the library. */
const inCpp = (headers: readonly string[], members: readonly string[], statements: readonly string[]): string[] => [
  ...["cstdio", "exception", ...headers].map((name) => `#include <${name}>`),
  "struct port_arguments {",
  ...members,
  "};",
  "",
  `extern "C" __attribute__((visibility("default"))) void ${ENTRY}(port_arguments *a) {`,
  "  a->status = 0;",
  "  try {",
  ...statements,
  "  } catch (const std::exception &error) {",
  `    a->status = ${THREW};`,
  '    fprintf(stderr, "%s\\n", error.what());',
  "  }",
  "}",
  "",
];

const fieldType = ({ type }: Argument): StructFieldType => (type === "index" ? "long" : type);

function declaredAs(type: StructFieldType): string {
  if (type === "pointer") return "void *";
  return `${openmpDialect.types[type === "long" ? "index" : (type satisfies ScalarType)]} `;
}
