import assert from "node:assert/strict";
import { after, test } from "node:test";
import { f64, kernel, open, range, view } from "isoform";

const devices = await Promise.all(["js", "wasm"].map((name) => open(name)));
after(() => Promise.all(devices.map((device) => device.close())));

const add = kernel("add", { x: view(f64) }, ({ x }, i) => {
  x[i] += 1;
});

for (const device of devices) {
  const x = device.array(f64, 1000);
  const launch = device.prepare(add, { x }, range(1000));
  const loops: Record<string, () => Promise<unknown>> = {
    run: () => device.run(add, { x }, range(1000)),
    results: () => {
      device.queue.submit(launch);
      return device.queue.results(launch);
    },
    finish: () => device.queue.finish(),
    read: () => device.queue.read(x),
    "events' done": () => device.queue.record().done(),
  };
  for (const [what, step] of Object.entries(loops))
    test(`a loop that awaits ${what} on ${device.name} lets timers through`, async () => {
      let ticked = false;
      const timer = setTimeout(() => (ticked = true), 1);
      // Ends only where the timer does.
      while (!ticked) await step();
      clearTimeout(timer);
      assert.ok(ticked);
    });
}
