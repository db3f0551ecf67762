import type { Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { partialsPerRow } from "../container/box-exchange.js";
import { pieceOfPartials, type PartialsPiece } from "../container/box-reductions.js";
import { launchPartials, slotOf } from "../container/reductions.js";
import { hasRows, partialRows } from "../container/rows.js";
import type { Container } from "../grid/grid.js";
import type { DataView } from "../grid/parts.js";
import type { LocalBox, MemberBoxes } from "./member-boxes.js";

/** The part of a member's partials that launch `n` of a view takes, which runs over `box`. */
type PiecesOfLaunches = (partials: View, precision: Precision, box: LocalBox, n: number) => PartialsPiece;

/** Parts of a member's partials that the launches of a container over the boxes of a view take. */
export function partialsOfView(container: Container, boxes: MemberBoxes, member: number, view: DataView): PiecesOfLaunches {
  const rows = partialRows(container);
  const part = rows.partitions[member];
  const skipped = part.first - container.grid.partitions[member].first;
  if (!hasRows(rows))
    return (partials, precision, [[first, end]], n) => ({
      target: launchPartials(rows, partials, precision, [first - skipped, end - first], slotOf(view, n)),
    });
  const above = part.rows![0] - boxes.own(member, 1)[0];
  // Launches over internal cells leave their partials before the launches over boundary cells.
  const views = view === "boundary" ? (["internal", "boundary"] as const) : [view];
  const sizes = views.flatMap((each) => boxes.view(member, each, container.box).map((box) => cellsOf(box) * partialsPerRow(rows)));
  const earlier = view === "boundary" ? 1 : 0;
  return (partials, precision, [[first, end], [low, high]], n) => {
    if (precision === "fast" || partials.size === 1) return { target: launchPartials(rows, partials, precision, [0, 0], slotOf(view, n)) };
    const before = sizes.slice(0, n + earlier).reduce((a, b) => a + b, 0);
    return pieceOfPartials(rows, member, partials, [[first - skipped, end - skipped], [low - above, high - above]], before); // prettier-ignore
  };
}

const cellsOf = (box: LocalBox): number => box.reduce((size, [first, end]) => size * Math.max(0, end - first), 1);
