import { StreamLanguage, type Language, type StreamParser } from "@codemirror/language";
import { tagHighlighter, tags } from "@lezer/highlight";

/*
 * Colours of the playground: the grammar of each language, loaded with the first text in it, and the classes of the style sheet.
 */

const words = (list: string): Record<string, true> => Object.fromEntries(list.split(" ").map((word) => [word, true]));

/** C with what CUDA, HIP, OpenCL and SYCL add to it. */
const C = {
  keywords: words(
    "if else for while do return break continue switch case default goto sizeof struct union enum typedef namespace using template typename class " +
      "const constexpr static inline extern volatile restrict __restrict__ auto true false nullptr NULL new delete public private " +
      "__global__ __device__ __host__ __shared__ __launch_bounds__ __kernel __constant __local __private kernel global local constant",
  ),
  types: words(
    "void bool char short int long float double half signed unsigned size_t ptrdiff_t uchar ushort uint ulong " +
      "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t",
  ),
};

const WGSL = {
  keywords: words(
    "struct fn var let const override alias if else for while loop switch case default break continue continuing return true false",
  ),
  types: words(
    "f32 f16 i32 u32 bool array atomic ptr vec2 vec3 vec4 mat2x2 mat3x3 mat4x4 storage uniform workgroup function private read write read_write",
  ),
};

/** The intermediate representation as `print` writes it. */
const IR = {
  keywords: words("kernel range team scalar fixed view scatter reduce helper let if else for while return break continue parallel barrier"),
  types: words("f64 f32 i64 i32 u32 i16 u16 i8 u8 bool"),
  // Variables that are new are told from others by primes.
  isIdentifierChar: /[\w$']/,
};

interface Words {
  readonly keywords: Record<string, true>;
  readonly types: Record<string, true>;
  readonly isIdentifierChar?: RegExp;
}

/** A language whose layout is C's. */
async function like(conf: Words): Promise<Language> {
  const { clike } = await import("@codemirror/legacy-modes/mode/clike");
  // Preprocessor lines, and attributes of WGSL.
  const meta = (stream: { match(pattern: RegExp): unknown }): string => (stream.match(/^\w*.*/), "meta");
  const attribute = (stream: { match(pattern: RegExp): unknown }): string => (stream.match(/^\w+/), "meta");
  return StreamLanguage.define(clike({ name: "c", ...conf, hooks: { "#": meta, "@": attribute } }));
}

const FORTRAN_TYPES = /^(?:integer|real|logical|character|complex|double|precision)$/i;

/** Fortran whose directives are not comments, and whose types are not functions. */
async function fortran(): Promise<Language> {
  const { fortran: mode } = await import("@codemirror/legacy-modes/mode/fortran");
  const parser: StreamParser<unknown> = {
    ...mode,
    languageData: { commentTokens: { line: "!" } },
    token: (stream, state) => {
      if (stream.match(/^!(\$|dir\$).*/i)) return "meta";
      const style = mode.token(stream, state);
      return style === "builtin" && FORTRAN_TYPES.test(stream.current()) ? "type" : style;
    },
  };
  return StreamLanguage.define(parser);
}

const GRAMMARS = {
  c: () => like(C),
  fortran,
  ir: () => like(IR),
  typescript: async (): Promise<Language> => (await import("@codemirror/lang-javascript")).typescriptLanguage,
  wat: async (): Promise<Language> => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/wast")).wast),
  wgsl: () => like(WGSL),
} as const satisfies Record<string, () => Promise<Language>>;

export type GrammarName = keyof typeof GRAMMARS;

const loaded = new Map<GrammarName, Promise<Language>>();

/** The grammar of that name; it is loaded once. */
export function grammar(name: GrammarName): Promise<Language> {
  const found = loaded.get(name) ?? GRAMMARS[name]();
  loaded.set(name, found);
  return found;
}

/** Classes of the style sheet for parts of programs; names and operators have the colour of text. */
export const CLASSES = tagHighlighter([
  { tag: [tags.keyword, tags.modifier], class: "code-keyword" },
  { tag: [tags.typeName, tags.standard(tags.typeName), tags.className], class: "code-type" },
  { tag: [tags.number, tags.bool, tags.atom, tags.null], class: "code-number" },
  { tag: [tags.string, tags.regexp, tags.character], class: "code-string" },
  { tag: tags.comment, class: "code-comment" },
  { tag: [tags.meta, tags.processingInstruction], class: "code-meta" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.standard(tags.variableName), tags.standard(tags.name)],
    class: "code-function",
  },
]);
