import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hooks, type Tool } from "../../../src/device/tools/hooks.js";
import { backendNames, f32, kernel, open, range, region, sum, view, type Device } from "../../../src/index.js";
import { fakeHip } from "../hip/fake.js";
import { tested } from "../../devices.js";

/** `hip`, whose queues are those of `cuda`, is there without a GPU then. */
await fakeHip();

const twice = kernel("twice", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
  y[i] = 2 * x[i];
});
const total = kernel("total", { x: view(f32), s: sum(f32) }, ({ x, s }, i) => s.add(x[i]));

/** A tool that notes what it is told, a word or two each, and whether each begin has its end. */
function listener(): Tool & { readonly heard: string[]; readonly open: Set<object> } {
  const heard: string[] = [];
  const begun = new Set<object>();
  const begin = (event: object, words: string) => {
    heard.push(words);
    begun.add(event);
  };
  const end = (event: object) => assert.ok(begun.delete(event), "an end without its begin");
  return {
    heard,
    open: begun,
    beginKernel: (event) => begin(event, event.label),
    endKernel: end,
    beginCopy: (event) => begin(event, `${event.kind} ${event.bytes}`),
    endCopy: end,
    beginFence: (event) => begin(event, `wait ${event.kind}`),
    endFence: end,
    allocate: ({ bytes, label }) => heard.push(`allocate ${label} ${bytes}`),
    free: ({ bytes }) => heard.push(`free ${bytes}`),
    beginRegion: (event) => begin(event, `region ${event.name}`),
    endRegion: end,
    closing: ({ name }) => void heard.push(`closing ${name}`),
  };
}

/** What a program asks of a device: each of the calls that tools hear of. */
async function program(device: Device): Promise<void> {
  const x = device.from(f32, [1, 2, 3, 4]);
  const y = device.array(f32, 4);
  const { queue } = device;
  const launch = device.prepare(twice, { x, y }, range(4));
  queue.submit(launch);
  const graph = queue.capture(() => {
    queue.submit(launch);
    queue.copy(y, x);
    queue.submit(launch);
    queue.clear(x);
  });
  queue.submit(graph);
  await queue.finish();
  assert.deepEqual([...(await queue.read(y))], [4, 8, 12, 16]);
  queue.write(x, [1, 1, 1, 1]);
  const other = device.createQueue();
  other.wait(queue.record());
  other.copy(x, y);
  await other.finish();
  assert.deepEqual(await device.run(total, { x: y }, range(4)), { s: 4 });
  queue.clear(y);
  await queue.finish();
  x.free();
}

const HEARD = [
  "write 16",
  "allocate f32 [4] 16",
  "allocate f32 [4] 16",
  "twice",
  "graph of twice x2",
  "wait finish",
  "wait read",
  "read 16",
  "write 16",
  "copy 16",
  "wait finish",
  "total",
  "wait results",
  "clear 16",
  "wait finish",
  "free 16",
];

/** GPUs wait for the end of work before they are asked for results. */
const withoutRunsFinish = (heard: readonly string[]): string[] =>
  heard.filter((words, n) => !(words === "wait finish" && heard[n - 1] === "total"));

interface Opened {
  readonly name: string;
  readonly device?: Device;
  readonly missing?: string;
}

/** All are open before the first suite begins: opening one tries it, and tools hear of every device. */
const everyDevice: Opened[] = [];
for (const name of backendNames().filter(tested)) {
  everyDevice.push(
    await open(name).then(
      (device) => ({ name, device }),
      (error: Error) => ({ name, missing: error.message }),
    ),
  );
}

for (const { name, missing, ...opened } of everyDevice) {
  describe(`tools on ${name}`, { skip: missing ?? false }, () => {
    const device = opened.device!;

    it("hear of all that a program asks, of devices that were open before, and of nothing once they are detached", async () => {
      const tool = listener();
      const detach = hooks.attach(tool);
      try {
        await program(device);
      } finally {
        detach();
      }
      assert.deepEqual(withoutRunsFinish(tool.heard), HEARD);
      assert.equal(tool.open.size, 0);
      await program(device);
      assert.equal(withoutRunsFinish(tool.heard).length, HEARD.length);
    });

    it("know what a launch and a graph are made of", async () => {
      const x = device.from(f32, [1, 2, 3, 4]);
      const launch = device.prepare(twice, { x, y: device.array(f32, 4) }, range(4));
      const before = device.queue.capture(() => device.queue.submit(launch));
      const seen: unknown[] = [];
      const detach = hooks.attach({
        beginKernel: ({ queue, work, label, launches, copies, devices }) => {
          assert.equal(queue, device.queue);
          seen.push([label, work === launch, launches, copies.map(({ kind, bytes }) => `${kind} ${bytes}`), devices]);
        },
      });
      try {
        device.queue.submit(launch);
        device.queue.submit(before);
        const graph = device.queue.capture(() => {
          device.queue.submit(launch);
          device.queue.clear(x);
        });
        device.queue.submit(graph);
        await device.queue.finish();
      } finally {
        detach();
      }
      assert.deepEqual(seen, [
        ["twice", true, [launch], [], [device]],
        ["graph", false, [], [], [device]],
        ["graph of twice", false, [launch], ["clear 16"], [device]],
      ]);
    });

    it("hear of each part of a graph where they ask for it", async () => {
      const tool = listener();
      const detach = hooks.attach({ ...tool, apart: true });
      try {
        await program(device);
      } finally {
        detach();
      }
      const parts = HEARD.flatMap((words) => (words === "graph of twice x2" ? ["twice", "copy 16", "twice", "clear 16"] : [words]));
      assert.deepEqual(withoutRunsFinish(tool.heard), parts);
    });

    it("leave graphs of several queues in their order, and themselves when they are gone", async () => {
      const [x, y, z] = [device.from(f32, [1, 2, 3, 4]), device.array(f32, 4), device.array(f32, 4)];
      const { queue } = device;
      const other = device.createQueue();
      const launches = [device.prepare(twice, { x, y }, range(4)), device.prepare(twice, { x: y, y: z }, range(4))];
      let heard = 0;
      const detach = hooks.attach({ apart: true, beginKernel: () => void heard++ });
      try {
        const graph = queue.capture(() => {
          queue.submit(launches[0]);
          other.wait(queue.record());
          other.submit(launches[1]);
          queue.wait(other.record());
          queue.copy(z, x);
        }, [other]);
        for (let n = 0; n < 3; n++) queue.submit(graph);
        assert.deepEqual([...(await queue.read(x))], [64, 128, 192, 256]);
        assert.equal(heard, 6);
        detach();
        queue.submit(graph);
      } finally {
        detach();
      }
      assert.deepEqual([...(await queue.read(x))], [256, 512, 768, 1024]);
      assert.equal(heard, 6);
    });

    it("are notified of the end of what fails, and waited for before the device is closed", async () => {
      const launch = device.prepare(total, { x: device.array(f32, 4) }, range(4));
      launch.free();
      const tool = listener();
      const order: string[] = [];
      const slow: Tool = {
        closing: async () => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          await device.queue.finish();
          order.push("read out");
        },
      };
      const detach = [hooks.attach(tool), hooks.attach(slow)];
      try {
        assert.throws(() => device.queue.submit(launch), { name: "LaunchError" });
        assert.equal(tool.open.size, 0);
        await device.close();
        order.push("closed");
      } finally {
        for (const one of detach) one();
      }
      assert.equal(tool.heard[1], `closing ${device.name}`);
      assert.deepEqual(order, ["read out", "closed"]);
    });
  });
}

describe("hooks that are off", () => {
  it("leave devices and queues as they were", async () => {
    const device = await open("js");
    const methods = () => [device.array, device.from, device.close, device.queue.submit, device.queue.copy, device.queue.read];
    const before = methods();
    const detach = [hooks.attach({}), hooks.attach({})];
    for (const [n, method] of methods().entries()) assert.notEqual(method, before[n]);
    detach[0]();
    assert.notDeepEqual(methods(), before);
    detach[1]();
    assert.deepEqual(methods(), before);
    await device.close();
  });

  it("come to devices that are opened later", async () => {
    const tool = listener();
    const detach = hooks.attach(tool);
    const device = await open("wasm");
    device.array(f32, 2);
    await device.close();
    detach();
    assert.deepEqual(tool.heard, ["allocate f32 [2] 8", "closing wasm", "free 8"]);
  });
});

describe("regions", () => {
  const heardOf = async (body: () => unknown): Promise<string[]> => {
    const words: string[] = [];
    const detach = hooks.attach({
      beginRegion: ({ name }) => words.push(`+${name}`),
      endRegion: ({ name }) => words.push(`-${name}`),
    });
    try {
      await body();
    } finally {
      detach();
    }
    return words;
  };

  it("end with their function, its promise or its error, and give on what it gives", async () => {
    assert.equal(
      region("off", () => 1),
      1,
    );
    const heard = await heardOf(async () => {
      assert.equal(
        region("sync", () => region("inner", () => 2)),
        2,
      );
      assert.equal(
        await region("async", async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return region("inner", () => 3);
        }),
        3,
      );
      assert.throws(() => region("error", () => assert.fail("on purpose")), /on purpose/);
      await assert.rejects(
        region("rejected", () => Promise.reject(new Error("on purpose"))),
        /on purpose/,
      );
    });
    assert.equal(heard.join(" "), "+sync +inner -inner -sync +async +inner -inner -async +error -error +rejected -rejected");
  });
});
