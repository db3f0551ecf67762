import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { AnyView } from "../memory/blocked-view.js";
import type { Buffer } from "../memory/view.js";
import { noteWrite } from "../memory/writes.js";
import { compiledCall } from "./bind.js";
import type { Binding, BindArguments } from "./binding.js";

/** The memory that a bound launch writes, each piece once. */
export function buffersWritten({ access, views, outputs, peerStores }: Binding): readonly Buffer[] {
  const found = new Set<Buffer>();
  for (const name of writtenViews(access)) if (views[name]) found.add(views[name].buffer);
  for (const name in outputs) if (outputs[name]) found.add(outputs[name].buffer);
  for (const { to } of peerStores) found.add(to.buffer);
  return [...found];
}

/** Names of the arguments that a bound launch writes. */
export const writtenArguments = ({ access, outputs }: Binding): readonly string[] => [
  ...writtenViews(access),
  ...Object.keys(outputs).filter((name) => outputs[name]),
];

/** Counts the writes of a launch into these of its arguments. */
export function noteArguments(names: Iterable<string>, args: BindArguments["args"]): void {
  for (const name of names) {
    // Results that nothing takes on the device start from a number, or are left out.
    const buffer = (args[name] as AnyView | undefined)?.buffer;
    if (buffer) noteWrite(buffer);
  }
}

/** Names of the views and scatter arrays that code changes. */
const writtenViews = ({ views }: AccessAnalysis): string[] =>
  Object.keys(views).filter((name) => views[name]!.written || views[name]!.scattered);

/** Counts the writes of a call whose launch is prepared later than it was asked for. Throws as `bind` does for fixed values. */
export function noteCall(call: BindArguments): void {
  const { args, kernel } = call;
  const names = new Set(writtenViews(compiledCall(call).strict.access));
  for (const [name, token] of Object.entries(kernel.params))
    if (typeof token === "object" && (token?.kind === "reduce" || token?.kind === "reduceEach")) names.add(name);
  noteArguments(names, args);
}
