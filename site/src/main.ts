import { IsoformError, type OpenOptions } from "isoform";
import { chooseAsked, describeDevice, deviceTitle, nextBest, offerDevices, openDevice, tellMissing } from "./devices.js";
import { domElement } from "./element.js";
import type { Exhibit } from "./exhibit.js";
import { tellThreads } from "./isolation.js";
import { offerThemes } from "./theme.js";

/** Name after # in the address, and before a ? that may follow. */
interface Entry {
  readonly id: string;
  readonly title: string;
  /** Its modules; whoever asks early has them early. */
  load(): Promise<unknown>;
  /** Shows it on the device of that name, and tells what runs there; what it gives ends it. */
  open(device: string, report: (where: string) => void): Promise<() => Promise<void>>;
}

const byId = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const [stage, status, select] = [byId("stage"), byId("status"), byId<HTMLSelectElement>("device")];

const exhibit = (id: string, title: string, find: () => Promise<Exhibit>, options?: OpenOptions): Entry => ({
  id,
  title,
  load: () => Promise.all([import("./stage.js"), find()]),
  async open(device, report) {
    const [set, { playScene }, found] = await Promise.all([openDevice(device, options), import("./stage.js"), find()]);
    report(describeDevice(set));
    try {
      const end = await playScene(found, set, stage, fail);
      return async () => {
        await end();
        await set.close();
      };
    } catch (error) {
      await set.close();
      throw error;
    }
  },
});

const ENTRIES: readonly Entry[] = [
  exhibit("tunnel", "Wind tunnel", async () => (await import("./tunnel.js")).tunnel),
  exhibit("stars", "Stars", async () => (await import("./stars.js")).stars, { f64: "emulate" }),
  exhibit("sky", "Scanning law", async () => (await import("./sky.js")).sky),
  exhibit("shear", "Shear layer", async () => (await import("./shear-layer.js")).shearLayer, { f64: "emulate" }),
  exhibit("shock", "Shock tube", async () => (await import("./shock-tube.js")).shockTube, { f64: "emulate" }),
  exhibit("streams", "Four streams", async () => (await import("./streams.js")).streams),
  exhibit("heat", "Heat", async () => (await import("./heat.js")).heat),
  exhibit("poisson", "Poisson", async () => (await import("./poisson.js")).poisson),
  {
    id: "playground",
    title: "Playground",
    load: () => import("./playground/playground.js"),
    async open(device, report) {
      report(`kernels run on ${deviceTitle(device)}, in a worker${tellMissing(select)}`);
      return (await import("./playground/playground.js")).openPlayground(device, stage);
    },
  },
];

const entry = (): Entry => ENTRIES.find(({ id }) => `#${id}` === location.hash.split("?")[0]) ?? ENTRIES[0];

/** An error of the library tells what to do; any other is a fault of this page, and the console shows where. Offers to go on elsewhere. */
function fail(error: unknown): void {
  if (!(error instanceof IsoformError)) console.error(error);
  const here = select.value;
  status.className = "problem";
  status.textContent = `This does not run on ${deviceTitle(here)}: ${(error as Error).message} `;
  const offer = (name: string, text: string): void => {
    const onclick = (): void => {
      select.value = name;
      change();
    };
    status.append(domElement("button", { type: "button", textContent: text, onclick }), " ");
  };
  const other = nextBest(select);
  if (other) offer(other, `Run on ${deviceTitle(other)}`);
  offer(here, "Try again");
}

let end: (() => Promise<void>) | undefined;
let turn = Promise.resolve();

/** Ends what runs and opens what the address and the device's choice say; one change after the other. */
function change(): void {
  turn = turn.then(async () => {
    const { id, title, open } = entry();
    for (const link of document.querySelectorAll("nav a")) {
      if (link.getAttribute("href") === `#${id}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const before = end;
    end = undefined;
    await before?.();
    try {
      end = await open(select.value, (where) => {
        status.className = "";
        status.textContent = `${title}: ${where}.`;
      });
    } catch (error) {
      fail(error);
    }
  });
}

byId("exhibits").append(...ENTRIES.map(({ id, title }) => domElement("li", {}, domElement("a", { href: `#${id}`, textContent: title }))));
offerThemes(byId("theme"));
void tellThreads(byId("threads"));
// Ignores errors here: they come again when it is opened, and are reported then.
entry()
  .load()
  .catch(() => {});
await offerDevices(select);
addEventListener("hashchange", () => {
  chooseAsked(select);
  change();
});
select.addEventListener("change", change);
change();
