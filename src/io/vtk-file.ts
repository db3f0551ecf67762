import { typedArray, type TypedArray } from "../device/memory/view.js";
import { isHalf } from "../ir/scalars.js";
import type { NumberElement } from "../ir/types.js";
import { IsoformError } from "../base/errors.js";
import { attributesText, escape, unescape } from "./xml.js";

/*
 * VTK's XML files (VTK File Formats, "XML File Formats"): a tree of elements around data arrays, which are either base64 text in the tree
 * or bytes after it. Every array is its length in bytes as a UInt64, then its values, both little-endian and not compressed.
 */

/** `appended`: bytes at the end of the file, smaller and faster; `inline`: base64, a file of plain text. */
export type VtkEncoding = "appended" | "inline";

/** An array of a VTK file: its name, the components of a tuple, and the values, tuple after tuple. */
export interface DataArray {
  readonly name: string;
  readonly components: number;
  readonly data: TypedArray;
}

/** An array to be written, whose values are asked for, some at a time, when their turn comes. */
export interface ArraySource extends Omit<DataArray, "data"> {
  readonly type: NumberElement;
  readonly length: number;
  pieces(): Iterable<TypedArray> | AsyncIterable<TypedArray>;
}

/** An element of the tree; `arrays` are children, in front of `children`. */
export interface VtkElement<A = DataArray> {
  readonly tag: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly arrays?: readonly A[];
  readonly children?: readonly VtkElement<A>[];
}

/** An element of the tree of a file to be written. */
export type NewElement = VtkElement<DataArray | ArraySource>;

/** Floats of 16 bits are written as f32: VTK has no such type, and host data are f32. */
const NAMES = {
  f64: "Float64",
  f32: "Float32",
  i32: "Int32",
  u32: "UInt32",
  u8: "UInt8",
  i8: "Int8",
  u16: "UInt16",
  i16: "Int16",
} satisfies Partial<Record<NumberElement, string>>;
type Named = keyof typeof NAMES;
const nameOf = (type: NumberElement): string => NAMES[isHalf(type) ? "f32" : type];

/** The element type of an array. */
export const elementOf = (data: TypedArray): NumberElement => ELEMENTS.find((type) => data instanceof typedArray(type, 0).constructor)!;
const ELEMENTS = Object.keys(NAMES) as Named[];

/** Content of a file in pieces. Values of arrays are asked for one array after the other. */
export async function* encodeVtk(root: NewElement, encoding: VtkEncoding): AsyncGenerator<Uint8Array | string> {
  const head = { type: root.tag, version: "1.0", byte_order: "LittleEndian", header_type: "UInt64" };
  const start = `<?xml version="1.0"?>\n<VTKFile${attributesText(head)}>\n`;
  if (encoding === "inline") {
    yield start;
    for (const part of partsOf(root))
      if (typeof part === "string") yield part;
      else yield* inlineArray(part);
    yield "</VTKFile>\n";
    return;
  }
  const arrays: ArraySource[] = [];
  let [tree, offset] = [start, 0];
  for (const part of partsOf(root)) {
    tree += typeof part === "string" ? part : `${startOf(part)} format="appended" offset="${offset}"/>\n`;
    if (typeof part === "string") continue;
    arrays.push(part);
    offset += LENGTH + bytesIn(part);
  }
  yield `${tree}<AppendedData encoding="raw">\n_`;
  for (const array of arrays) yield* blockOf(array);
  yield "\n</AppendedData>\n</VTKFile>\n";
}

/** Bytes of an array's length. */
const LENGTH = 8;

const bytesIn = ({ type, length }: ArraySource): number => length * bytesOf(type);

/** Name of the type of an array's values. */
export const typeName = (array: DataArray | ArraySource): string => nameOf("data" in array ? elementOf(array.data) : array.type);

const startOf = ({ name, components, type }: ArraySource): string =>
  `<DataArray type="${nameOf(type)}" Name="${escape(name)}" NumberOfComponents="${components}"`;

/** The text of a tree, with its arrays between. */
function* partsOf({ tag, attributes = {}, arrays = [], children = [] }: NewElement): Generator<string | ArraySource> {
  yield `<${tag}${attributesText(attributes)}>\n`;
  for (const array of arrays) yield "data" in array ? sourceOf(array) : array;
  for (const each of children) yield* partsOf(each);
  yield `</${tag}>\n`;
}

const sourceOf = ({ data, ...about }: DataArray): ArraySource => ({
  ...about,
  type: elementOf(data),
  length: data.length,
  pieces: () => [data],
});

/** An array as bytes: its length, then its values. Throws where there are not as many as it has. */
async function* blockOf(array: ArraySource): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(new BigUint64Array([BigInt(bytesIn(array))]).buffer);
  let left = bytesIn(array);
  for await (const { buffer, byteOffset, byteLength } of array.pieces()) {
    left -= byteLength;
    if (byteLength > 0) yield new Uint8Array(buffer, byteOffset, byteLength);
  }
  if (left !== 0) throw new Error(`the array "${array.name}" of ${array.length} values lacks ${left / bytesOf(array.type)} of them`);
}

/** An array as base64 text, which three bytes at a time become. */
async function* inlineArray(array: ArraySource): AsyncGenerator<string> {
  yield `${startOf(array)} format="binary">`;
  let rest = Buffer.alloc(0);
  for await (const bytes of blockOf(array)) {
    const all = Buffer.concat([rest, bytes]);
    const whole = all.length - (all.length % 3);
    yield all.toString("base64", 0, whole);
    rest = all.subarray(whole);
  }
  yield `${rest.toString("base64")}</DataArray>\n`;
}

/** The tree of a file that `encodeVtk` made. Throws IsoformError, with the name of the file, for another. */
export function decodeVtk(bytes: Uint8Array, file: string): VtkElement {
  const fail = (problem: string): never => {
    throw new IsoformError(`${file}: ${problem}; only VTK XML files that isoform wrote can be read`);
  };
  const marker = new TextEncoder().encode('<AppendedData encoding="raw">\n_');
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(marker);
  const text = new TextDecoder().decode(found < 0 ? bytes : bytes.subarray(0, found));
  if (!/<VTKFile [^>]*byte_order="LittleEndian" header_type="UInt64"/.test(text))
    fail("it is not a little-endian VTK XML file with UInt64 headers");

  const tags = text.matchAll(/<(\/?)(\w+)((?:\s+\w+="[^"]*")*)\s*(\/?)>([^<]*)/g);
  type Open = { tag: string; attributes: Record<string, string>; arrays: DataArray[]; children: VtkElement[] };
  const top: Open = { tag: "", attributes: {}, arrays: [], children: [] };
  const open = [top];
  for (const [, closing, tag, rest, empty, content] of tags) {
    const parent = open.at(-1) ?? fail("its elements end before they begin");
    const attributes = Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, unescape(value)]));
    if (tag === "DataArray") {
      if (!closing)
        parent.arrays.push(decodeArray(attributes, content, found < 0 ? undefined : bytes.subarray(found + marker.length), fail));
    } else if (closing) open.pop();
    else {
      const element: Open = { tag, attributes, arrays: [], children: [] };
      parent.children.push(element);
      if (!empty) open.push(element);
    }
  }
  return top.children.find(({ tag }) => tag === "VTKFile")?.children?.[0] ?? fail("it has no VTKFile element with content");
}

function decodeArray(
  { type, Name, NumberOfComponents, format, offset }: Record<string, string>,
  content: string,
  appended: Uint8Array | undefined,
  fail: (problem: string) => never,
): DataArray {
  const element = ELEMENTS.find((key) => NAMES[key] === type) ?? fail(`array "${Name}" is of type ${type}`);
  const components = Number(NumberOfComponents);
  if (Name === undefined || !(Number.isInteger(components) && components > 0))
    return fail(`array "${Name}" has ${NumberOfComponents} components`);
  const block =
    format === "binary" ? Buffer.from(content, "base64") : /^\d+$/.test(offset) ? appended?.subarray(Number(offset)) : undefined;
  if (!block || block.length < 8) return fail(`array "${Name}" is missing`);
  const length = Number(new DataView(block.buffer, block.byteOffset, 8).getBigUint64(0, true));
  const values = new Uint8Array(block.subarray(8, 8 + length));
  if (values.length !== length) fail(`array "${Name}" ends early`);
  if (length % (components * bytesOf(element)) !== 0) fail(`array "${Name}" has ${length} bytes, which is not a whole number of values`);
  const data = typedArray(element, values.buffer, 0, length / bytesOf(element));
  return { name: Name, components, data };
}

const bytesOf = (element: NumberElement): number => typedArray(element, 0).BYTES_PER_ELEMENT;

/** The child of an element, by tag. Throws IsoformError if it has none. */
export function child(element: VtkElement, tag: string, file: string): VtkElement {
  const found = element.children?.find((c) => c.tag === tag);
  if (!found) throw new IsoformError(`${file}: ${element.tag} lacks ${tag}; only VTK XML files that isoform wrote can be read`);
  return found;
}

/** Cell data by name. Throws IsoformError if an array has another number of cells. */
export function cellDataOf(piece: VtkElement, cells: number, file: string): ReadonlyMap<string, DataArray> {
  const arrays = child(piece, "CellData", file).arrays ?? [];
  for (const { name, components, data } of arrays)
    if (data.length !== cells * components)
      throw new IsoformError(`${file}: array "${name}" has values for ${data.length / components} cells, and the file has ${cells}`);
  return new Map(arrays.map((array) => [array.name, array]));
}
