import { plot, type Curve, type Panel } from "isoform/draw";
import { BLASIUS } from "./friction.js";
import { viscosityAt } from "../equations/gas.js";
import type { Flow } from "../simulation/simulation.js";
import type { Means } from "../measures/statistics.js";
import { layerWalls, sampledText } from "./walls.js";

/** Friction of a laminar layer without changes of density, by the Reynolds number of its momentum thickness (Blasius). */
const laminarFriction = (reTheta: number): number => (BLASIUS.friction * BLASIUS.momentum) / reTheta;

/** Friction of a turbulent layer by Karman and Schoenherr's law, which van Driest's second transformation takes to gases of other temperatures (van Driest, 1956). */
export function turbulentFriction(reTheta: number, { gas, wall }: Pick<Flow, "gas" | "wall">): number {
  const { temperature, recovery = 1 } = wall!;
  const [a2, b] = [(recovery - 1) / temperature, recovery / temperature - 1];
  const root = Math.sqrt(b * b + 4 * a2);
  // Without changes of temperature both are 0.
  const angle = root < 1e-9 ? 0 : Math.asin((2 * a2 - b) / root) + Math.asin(b / root);
  const factor = angle < 1e-9 ? 1 : (recovery - 1) / angle ** 2;
  const digits = Math.log10((viscosityAt(gas, 1) / viscosityAt(gas, temperature)) * reTheta);
  return 1 / (17.08 * digits ** 2 + 25.11 * digits + 6.012) / factor;
}

/** Friction beside what is known of layers without shocks, pressure and thickness along the wall, as SVG. */
export function wallFigure(flow: Flow, means: Means, kind: "laminar" | "turbulent"): string {
  const walls = layerWalls(flow, means);
  const x = { label: "x / delta_0" };
  const of = (column: string, name: string): Curve => ({ name, as: "line", x: walls.get("x")!, y: walls.get(column)! });
  const reTheta = walls.get("Re_theta")!;
  const known: Curve = {
    name: kind === "laminar" ? "Blasius, by Re_theta" : "van Driest II, by Re_theta",
    as: "dashes",
    x: walls.get("x")!,
    y: Float64Array.from(reTheta, (re) => (kind === "laminar" ? laminarFriction(re) : turbulentFriction(re, flow))),
  };
  const panels: Panel[] = [
    { title: "Friction", x, y: { label: "cf", from: 0 }, curves: [of("cf", "cf"), known] },
    { title: "Pressure at the wall", x, y: { label: "p_w / p of the free stream" }, curves: [of("p_w", "p_w")] },
    {
      title: "Thicknesses",
      x,
      y: { label: "length / delta_0", from: 0 },
      curves: [of("delta99", "99 % of the velocity"), of("displacement", "displacement"), of("theta", "momentum")],
    },
  ];
  return plot(`The wall, ${sampledText(means)}`, panels);
}
