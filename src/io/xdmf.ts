import { basename } from "node:path";
import { writePieces } from "./files.js";
import { readHdf5, type Dataset, type Group } from "./hdf5-file.js";
import { FACES, iterationsOf } from "./openpmd.js";
import { textOf, type XmlElement } from "./xml.js";

/** The XDMF file that `writeXdmf` puts beside an HDF5 file: `a.xmf` for `a.h5`. */
export const xdmfOf = (path: string): string => path.replace(/\.h5$/, "") + ".xmf";

/**
 * Writes an XDMF file beside an openPMD file, by which ParaView and VisIt show all its snapshots over time: meshes as cell data, with the faces of
 * their cells where these are of any widths, a vector where a
 * record has three components, and species with three coordinates as points. Returns its path.
 */
export async function writeXdmf(path: string): Promise<string> {
  const file = basename(path);
  const grids = await readHdf5(path, (root) =>
    iterationsOf(root, path).map(({ step, content }) => iterationGrid(step, content, `${file}:/data/${step}`)),
  );
  const collection = { tag: "Grid", attributes: { Name: "run", GridType: "Collection", CollectionType: "Temporal" }, children: grids };
  const root: XmlElement = { tag: "Xdmf", attributes: { Version: "2.0" }, children: [{ tag: "Domain", children: [collection] }] };
  const target = xdmfOf(path);
  await writePieces(target, [new TextEncoder().encode(`<?xml version="1.0"?>\n${textOf(root)}`)]);
  return target;
}

/** Content of one time: a grid for the meshes of each shape, and points for each species. */
function iterationGrid(step: number, { attributes, groups }: Group, path: string): XmlElement {
  const meshes = Object.entries({ ...groups.meshes?.groups, ...groups.meshes?.datasets });
  const byShape = new Map<string, typeof meshes>();
  for (const mesh of meshes) {
    const shape = shapeOf(mesh[1])?.join(" ");
    const key = `${shape}; ${facesOf(mesh[1]).join(";")}`;
    if (shape !== undefined) byShape.set(key, [...(byShape.get(key) ?? []), mesh]);
  }
  const boxes = [...byShape.values()].map((list, n) => boxGrid(`meshes${n || ""}`, list, `${path}/meshes`));
  const points = Object.entries(groups.particles?.groups ?? {}).flatMap(([name, species]) =>
    pointGrid(name, species, `${path}/particles/${name}`),
  );
  return {
    tag: "Grid",
    attributes: { Name: `step ${step}`, GridType: "Tree" },
    children: [{ tag: "Time", attributes: { Value: Number(attributes.time) } }, ...boxes, ...points],
  };
}

type Record = Group | Dataset;

const isDataset = (record: Record): record is Dataset => "read" in record;
/** Components that are datasets. */
const componentsOf = (record: Record): [name: string, dataset: Dataset][] =>
  isDataset(record) ? [["", record]] : Object.entries(record.datasets);
/** Faces of a mesh with cells of any widths, by axis, x first. */
const facesOf = ({ attributes }: Record): ArrayLike<number>[] =>
  FACES.flatMap((name) => (attributes[name] === undefined ? [] : [attributes[name] as Float64Array]));
const shapeOf = (record: Record): readonly number[] | undefined => componentsOf(record)[0]?.[1].shape;

function boxGrid(name: string, records: readonly (readonly [string, Record])[], path: string): XmlElement {
  const [[, first]] = records;
  // XDMF has boxes of three axes: absent axes come first, as the slowest.
  const three = (values: readonly number[], absent: number): number[] => [...Array<number>(3 - values.length).fill(absent), ...values];
  const shape = three(shapeOf(first)!, 1);
  const numbers = (key: string): number[] => Array.from(first.attributes[key] as Float64Array);
  const faces = facesOf(first);
  const uniform = faces.length === 0;
  const topology = { TopologyType: uniform ? "3DCoRectMesh" : "3DRectMesh", Dimensions: shape.map((cells) => cells + 1).join(" ") };
  const lists = uniform
    ? [three(numbers("gridGlobalOffset"), 0), three(numbers("gridSpacing"), 1)]
    : [0, 1, 2].map((axis) => Array.from(faces[axis] ?? [0, 1]));
  const geometry = lists.map((values) => ({
    tag: "DataItem",
    attributes: { Dimensions: values.length, NumberType: "Float", Precision: 8, Format: "XML" },
    text: values.join(" "),
  }));
  return {
    tag: "Grid",
    attributes: { Name: name, GridType: "Uniform" },
    children: [
      { tag: "Topology", attributes: topology },
      { tag: "Geometry", attributes: { GeometryType: uniform ? "Origin_DxDyDz" : "VXVYVZ" }, children: geometry },
      ...records.flatMap(([key, record]) => attributesOf(key, record, `${path}/${key}`, shape, "Cell")),
    ],
  };
}

function pointGrid(name: string, species: Group, path: string): XmlElement[] {
  const { position } = species.groups;
  const axes = position === undefined ? [] : componentsOf(position);
  if (axes.length !== 3) return [];
  const shape = axes[0][1].shape;
  const others = Object.entries({ ...species.groups, ...species.datasets }).filter(([key]) => key !== "position");
  const grid: XmlElement = {
    tag: "Grid",
    attributes: { Name: name, GridType: "Uniform" },
    children: [
      { tag: "Topology", attributes: { TopologyType: "Polyvertex", NumberOfElements: shape[0], NodesPerElement: 1 } },
      {
        tag: "Geometry",
        attributes: { GeometryType: "X_Y_Z" },
        children: axes.map(([axis, dataset]) => item(dataset, `${path}/position/${axis}`)),
      },
      ...others.flatMap(([key, record]) => attributesOf(key, record, `${path}/${key}`, shape, "Node")),
    ],
  };
  return [grid];
}

/** A record as one scalar, as one vector, or as a scalar for each component. */
function attributesOf(name: string, record: Record, path: string, shape: readonly number[], centre: "Cell" | "Node"): XmlElement[] {
  const components = componentsOf(record);
  const items = components.map(([key, dataset]) => item(dataset, key === "" ? path : `${path}/${key}`));
  const attribute = (title: string, kind: "Scalar" | "Vector", child: XmlElement): XmlElement => ({
    tag: "Attribute",
    attributes: { Name: title, AttributeType: kind, Center: centre },
    children: [child],
  });
  if (components.length !== 3)
    return items.map((each, n) => attribute(components[n][0] === "" ? name : `${name}_${components[n][0]}`, "Scalar", each));
  const join = { ItemType: "Function", Function: "JOIN($0, $1, $2)", Dimensions: [...shape, 3].join(" ") };
  return [attribute(name, "Vector", { tag: "DataItem", attributes: join, children: items })];
}

const NUMBERS = {
  f64: ["Float", 8],
  f32: ["Float", 4],
  i32: ["Int", 4],
  u32: ["UInt", 4],
  u8: ["UChar", 1],
  i8: ["Char", 1],
  u16: ["UInt", 2],
  i16: ["Int", 2],
  f16: ["Float", 4],
  bf16: ["Float", 4],
  i64: ["Int", 8],
} as const;

function item({ shape, type }: Dataset, path: string): XmlElement {
  const [NumberType, Precision] = NUMBERS[type];
  return { tag: "DataItem", attributes: { Dimensions: shape.join(" "), NumberType, Precision, Format: "HDF" }, text: path };
}
