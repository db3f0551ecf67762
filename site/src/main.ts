import { IsoformError } from "isoform";
import type { DeviceSet } from "isoform/set";
import { describeDevice, offerDevices, openDevice } from "./devices.js";
import { element } from "./element.js";
import type { Exhibit } from "./exhibit.js";
import { tellThreads } from "./isolation.js";
import { offerThemes } from "./theme.js";

/** What the address names behind #. */
interface Entry {
  readonly id: string;
  readonly title: string;
  /** What devices without f64 do, where it is needed. */
  readonly f64?: "emulate";
  /** Shows it; what it gives ends it. */
  open(set: DeviceSet): Promise<() => Promise<void>>;
}

const byId = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const [stage, status, select] = [byId("stage"), byId("status"), byId<HTMLSelectElement>("device")];

const exhibit = (id: string, title: string, load: () => Promise<Exhibit>, f64?: Entry["f64"]): Entry => ({
  id,
  title,
  f64,
  async open(set) {
    const [{ show }, loaded] = await Promise.all([import("./stage.js"), load()]);
    return show(loaded, set, stage, fail);
  },
});

const ENTRIES: readonly Entry[] = [
  exhibit("tunnel", "Wind tunnel", async () => (await import("./tunnel.js")).tunnel),
  exhibit("stars", "Stars", async () => (await import("./stars.js")).stars, "emulate"),
  exhibit("heat", "Heat", async () => (await import("./heat.js")).heat),
  exhibit("poisson", "Poisson", async () => (await import("./poisson.js")).poisson),
  {
    id: "playground",
    title: "Playground",
    open: async (set) => (await import("./playground/playground.js")).openPlayground(set, stage),
  },
];

const entry = (): Entry => ENTRIES.find(({ id }) => `#${id}` === location.hash) ?? ENTRIES[0];

/** An error of the library tells what to do; any other is a fault of this page, and the console shows where. */
function fail(error: unknown): void {
  if (!(error instanceof IsoformError)) console.error(error);
  status.textContent = `This does not run on ${select.selectedOptions[0]?.text ?? "this browser"}: ${(error as Error).message} Choose another device.`;
}

let open: { readonly set: DeviceSet; end(): Promise<void> } | undefined;
let turn = Promise.resolve();

/** Ends what runs and opens what the address and the device's choice say; one change after the other. */
function change(): void {
  turn = turn.then(async () => {
    const { id, title, f64, open: start } = entry();
    for (const link of document.querySelectorAll("nav a")) {
      if (link.getAttribute("href") === `#${id}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const before = open;
    open = undefined;
    await before?.end();
    await before?.set.close();
    try {
      const set = await openDevice(select.value, { f64 });
      status.textContent = `${title}: ${describeDevice(set)}.`;
      open = { set, end: async () => {} };
      open = { set, end: await start(set) };
    } catch (error) {
      fail(error);
    }
  });
}

byId("exhibits").append(...ENTRIES.map(({ id, title }) => element("li", {}, element("a", { href: `#${id}`, textContent: title }))));
offerThemes(byId("theme"));
void tellThreads(byId("threads"));
await offerDevices(select);
addEventListener("hashchange", change);
select.addEventListener("change", change);
change();
