import { plot, type Curve, type Panel } from "isoform/draw";
import { channelProfiles } from "./channel-statistics.js";
import { lawOfTheWall, MOSER_180 } from "./friction.js";
import type { Flow } from "../simulation/simulation.js";
import type { Means } from "../measures/statistics.js";
import type { NamedColumns } from "./text-table.js";
import { channelWall, sampledText } from "./walls.js";

/** Friction Reynolds numbers near enough to 180 to be compared with those points. */
const NEAR_180 = [150, 215] as const;
/** Change of density from which on van Driest's velocity is another. */
const COMPRESSIBLE = 0.02;

/** Mean velocity beside the law of the wall, root mean squares and stresses of a channel, in units of the wall, as SVG. */
export function channelFigure(flow: Flow, means: Means): string {
  const profiles = channelProfiles(flow, means);
  const { reTau, cf } = channelWall(flow, means).friction;
  const title = `Channel, ${sampledText(means)}: Re_tau ${reTau.toPrecision(4)}, cf ${cf.toPrecision(3)}`;
  return plot(title, [velocityPanel(profiles, reTau), fluctuations(profiles), stresses(profiles)]);
}

function velocityPanel(profiles: NamedColumns, reTau: number): Panel {
  const of = curvesOf(profiles, "y_plus");
  const heights = Float64Array.from({ length: 200 }, (_, n) => 0.5 * (2 * reTau) ** (n / 199));
  const density = Array.from(profiles.get("rho_by_wall")!);
  const isCompressible = density.some((value) => Math.abs(value - 1) > COMPRESSIBLE);
  const points: Curve[] =
    reTau < NEAR_180[0] || reTau > NEAR_180[1]
      ? []
      : [{ name: "Moser et al., Re_tau 178", as: "points", x: MOSER_180.map(([y]) => y), y: MOSER_180.map(([, u]) => u) }];
  return {
    title: "Mean velocity",
    x: { label: "y+ = y u_tau / nu_w", log: true, from: 0.5, to: Math.max(reTau, 10) },
    y: { label: "U+ = U / u_tau" },
    curves: [
      of("u_plus", "U+"),
      { name: "law of the wall", as: "dashes", x: heights, y: heights.map(lawOfTheWall) },
      ...(isCompressible ? [of("u_van_driest", "van Driest")] : []),
      ...points,
    ],
  };
}

const fluctuations = (profiles: NamedColumns): Panel => {
  const of = curvesOf(profiles, "y_plus");
  return {
    title: "Fluctuations of the velocity",
    x: { label: "y+ = y u_tau / nu_w" },
    y: { label: "sqrt(rho u''^2 / tau_w)" },
    curves: [of("u_rms", "u, along the flow"), of("v_rms", "v, across"), of("w_rms", "w, along z")],
  };
};

const stresses = (profiles: NamedColumns): Panel => {
  const of = curvesOf(profiles, "y");
  return {
    title: "Shear stress",
    x: { label: "y / h", from: 0, to: 1 },
    y: { label: "stress / tau_w" },
    curves: [
      of("stress", "total"),
      of("reynolds", "Reynolds, -rho u''v''"),
      of("viscous", "viscous"),
      { name: "1 - y/h: steady", as: "dashes", x: [0, 1], y: [1, 0] },
    ],
  };
};

const curvesOf =
  (profiles: NamedColumns, x: string) =>
  (column: string, name: string): Curve => ({ name, as: "line", x: profiles.get(x)!, y: profiles.get(column)! });
