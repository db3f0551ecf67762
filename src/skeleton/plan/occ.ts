import type { Field } from "../../domain/grid/grid.js";
import type { Edge, DependencyGraph } from "./graph.js";
import type { ComputeNode } from "./nodes.js";

/*
 * Overlap of computation and communication: which containers are split into internal and boundary cells (paper section V-B).
 */

/**
 * `standard` splits stencils, so that halos travel while internal cells are computed; `extended` also what a stencil's halos come from;
 * `two-way` also what follows a stencil, reductions included. With `in-kernel`, containers store in their neighbours' halos themselves while
 * they compute, where grid and devices can, and what is left is as with `standard`.
 */
export type OccLevel = "none" | "standard" | "extended" | "two-way" | "in-kernel";
/** All levels of overlap, from none to most. */
export const OCC_LEVELS: readonly OccLevel[] = ["none", "standard", "extended", "two-way", "in-kernel"];

/** The side of a stencil on which a split container stands, which decides what of it is better launched first. */
type Side = "stencil" | "before" | "after";

export interface SideSplit {
  readonly side: Side;
  /** Stages of the stencils whose halos the split hides. */
  readonly stencils: ReadonlySet<number>;
  readonly reason: string;
}

/**
 * The containers to split, by stage. `base` holds each container once, on the standard view, in order; `updates` the halos that are brought up
 * to date before each.
 */
export function splits(
  base: DependencyGraph<ComputeNode>,
  updates: readonly (readonly Field[])[],
  level: OccLevel,
): Map<number, SideSplit> {
  const found = new Map<number, SideSplit>();
  if (level === "none") return found;
  base.nodes.forEach((node, stage) => {
    if (node.container.inRounds) return;
    const own = updates[stage].filter((field) => node.container.uses.every((use) => use.field !== field || use.level === "own"));
    if (own.length === 0 || own.length < updates[stage].length) return;
    const fields = own.map((f) => f.name).join(", ");
    found.set(stage, {
      side: "stencil",
      stencils: new Set([stage]),
      reason: `internal cells of ${node.name} need no halo of ${fields}`,
    });
  });
  if (level === "extended" || level === "two-way") splitBefore(base, updates, level, found);
  if (level === "two-way") splitAfter(base, found);
  return new Map([...found].sort(([a], [b]) => a - b));
}

/** Writers of a stencil's field, and what they read in turn, so that boundaries are ready to travel while internal cells are computed. */
function splitBefore(
  base: DependencyGraph<ComputeNode>,
  updates: readonly (readonly Field[])[],
  level: OccLevel,
  found: Map<number, SideSplit>,
): void {
  for (let stage = base.nodes.length - 1; stage >= 0; stage--) {
    const node = base.nodes[stage];
    if (found.has(stage) || node.container.inRounds || (level === "extended" && node.container.reductions.size > 0)) continue;
    const readers = base.outgoing(node).filter((edge) => {
      const reader = found.get(edge.to.stage);
      if (!reader || reader.side === "after") return false;
      const wanted = reader.side === "stencil" ? updates[edge.to.stage] : undefined;
      return edge.reasons.some(
        (r) => r.hazard === "read after write" && byCells(edge, r.datum) && (wanted?.includes(r.datum as Field) ?? true),
      );
    });
    const useful = readers.map((edge) => edge.to).filter((reader) => overlaps(base, node, reader, new Set([...found.keys(), stage])));
    if (useful.length === 0) continue;
    found.set(stage, {
      side: "before",
      stencils: new Set(useful.flatMap((reader) => [...found.get(reader.stage)!.stencils])),
      reason: `its boundary cells travel, or lead to those that do, before ${useful[0].name}`,
    });
  }
}

/** Readers of what a stencil wrote: their internal cells need only its internal cells. */
function splitAfter(base: DependencyGraph<ComputeNode>, found: Map<number, SideSplit>): void {
  for (const node of base.nodes) {
    if (found.has(node.stage) || node.container.inRounds) continue;
    const writers = base
      .incoming(node)
      .filter((edge) => {
        const writer = found.get(edge.from.stage);
        return writer && writer.side !== "before" && edge.reasons.some((r) => r.hazard === "read after write" && byCells(edge, r.datum));
      })
      .map((edge) => edge.from)
      .filter((writer) => overlaps(base, writer, node, new Set([...found.keys(), node.stage])));
    if (writers.length === 0) continue;
    found.set(node.stage, {
      side: "after",
      stencils: new Set(writers.flatMap((writer) => [...found.get(writer.stage)!.stencils])),
      reason: `its internal cells follow the internal cells of ${writers[0].name} while halos travel`,
    });
  }
}

/**
 * True if the internal cells of `to` can follow the internal cells of `from`: every path between them passes through split containers only, and never
 * through the result of a reduction or a field of another grid, which need all cells.
 */
function overlaps(base: DependencyGraph<ComputeNode>, from: ComputeNode, to: ComputeNode, split: ReadonlySet<number>): boolean {
  const open = (edge: Edge<ComputeNode>) =>
    split.has(edge.from.stage) &&
    split.has(edge.to.stage) &&
    edge.reasons.every((r) => r.hazard !== "read after write" || byCells(edge, r.datum));
  const between = base.nodes.filter((node) => node === from || node === to || (base.reaches(from, node) && base.reaches(node, to)));
  return between.every((node) => base.outgoing(node).every((edge) => !between.includes(edge.to) || open(edge)));
}

/** The datum is a field whose own cell, or its neighbours on the same grid, the reader looks at. */
const byCells = ({ to }: Edge<ComputeNode>, datum: unknown): boolean =>
  to.container.uses.some((use) => use.field === datum && use.level === "own");
