import { typedArray, type TypedArray } from "../device/memory/view.js";
import type { ElementType } from "../ir/types.js";
import { IsoformError } from "../ir/errors.js";
import { attributesText, escape, unescape } from "./xml.js";

/*
 * VTK's XML files (VTK File Formats, "XML File Formats"): a tree of elements around data arrays, which are either base64 text in the tree
 * or bytes behind it. Every array is its length in bytes as a UInt64, then its values, both little-endian and not compressed.
 */

/** `appended`: bytes at the end of the file, smaller and faster; `inline`: base64, a file of plain text. */
export type VtkEncoding = "appended" | "inline";

/** An array of a VTK file: its name, the components of a tuple, and the values, tuple after tuple. */
export interface DataArray {
  readonly name: string;
  readonly components: number;
  readonly data: TypedArray;
}

/** An element of the tree; `arrays` are children, in front of `children`. */
export interface Element {
  readonly tag: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly arrays?: readonly DataArray[];
  readonly children?: readonly Element[];
}

const NAMES: Record<ElementType, string> = { f64: "Float64", f32: "Float32", i32: "Int32", u32: "UInt32", u8: "UInt8" };

/** The element type of an array. */
export const elementOf = (data: TypedArray): ElementType => ELEMENTS.find((type) => data instanceof typedArray(type, 0).constructor)!;
const ELEMENTS = Object.keys(NAMES) as ElementType[];

/** The bytes of a file, in pieces: those of large arrays are not copied. */
export function encodeVtk(root: Element, encoding: VtkEncoding): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  let offset = 0;
  const array = ({ name, components, data }: DataArray): string => {
    const values = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const length = new Uint8Array(new BigUint64Array([BigInt(values.length)]).buffer);
    const start = `<DataArray type="${NAMES[elementOf(data)]}" Name="${escape(name)}" NumberOfComponents="${components}"`;
    if (encoding === "inline") return `${start} format="binary">${Buffer.concat([length, values]).toString("base64")}</DataArray>\n`;
    const text = `${start} format="appended" offset="${offset}"/>\n`;
    blocks.push(length, values);
    offset += length.length + values.length;
    return text;
  };
  const element = ({ tag, attributes = {}, arrays = [], children = [] }: Element): string =>
    `<${tag}${attributesText(attributes)}>\n${arrays.map(array).join("")}${children.map(element).join("")}</${tag}>\n`;
  const head = { type: root.tag, version: "1.0", byte_order: "LittleEndian", header_type: "UInt64" };
  const text = (s: string): Uint8Array => new TextEncoder().encode(s);
  const tree = `<?xml version="1.0"?>\n<VTKFile${attributesText(head)}>\n${element(root)}`;
  if (encoding === "inline") return [text(`${tree}</VTKFile>\n`)];
  return [text(`${tree}<AppendedData encoding="raw">\n_`), ...blocks, text("\n</AppendedData>\n</VTKFile>\n")];
}

/** The tree of a file that `encodeVtk` made. Throws IsoformError, with the name of the file, for another. */
export function decodeVtk(bytes: Uint8Array, file: string): Element {
  const fail = (problem: string): never => {
    throw new IsoformError(`${file}: ${problem}; only VTK XML files that isoform wrote can be read`);
  };
  const marker = new TextEncoder().encode('<AppendedData encoding="raw">\n_');
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(marker);
  const text = new TextDecoder().decode(found < 0 ? bytes : bytes.subarray(0, found));
  if (!/<VTKFile [^>]*byte_order="LittleEndian" header_type="UInt64"/.test(text))
    fail("it is not a little-endian VTK XML file with UInt64 headers");

  const tags = text.matchAll(/<(\/?)(\w+)((?:\s+\w+="[^"]*")*)\s*(\/?)>([^<]*)/g);
  type Open = { tag: string; attributes: Record<string, string>; arrays: DataArray[]; children: Element[] };
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
  if (length % (components * bytesOf(element)) !== 0) fail(`array "${Name}" has ${length} bytes: that is no whole number of values`);
  const data = typedArray(element, values.buffer, 0, length / bytesOf(element));
  return { name: Name, components, data };
}

const bytesOf = (element: ElementType): number => typedArray(element, 0).BYTES_PER_ELEMENT;

/** The child of an element, by tag. Throws IsoformError where it has none. */
export function child(element: Element, tag: string, file: string): Element {
  const found = element.children?.find((c) => c.tag === tag);
  if (!found) throw new IsoformError(`${file}: there is no ${tag} in ${element.tag}; only VTK XML files that isoform wrote can be read`);
  return found;
}

/** Cell data by name. Throws IsoformError where an array is not of so many cells. */
export function cellDataOf(piece: Element, cells: number, file: string): ReadonlyMap<string, DataArray> {
  const arrays = child(piece, "CellData", file).arrays ?? [];
  for (const { name, components, data } of arrays)
    if (data.length !== cells * components)
      throw new IsoformError(`${file}: array "${name}" has ${data.length / components} cells, and the file ${cells}`);
  return new Map(arrays.map((array) => [array.name, array]));
}
