import assert from "node:assert/strict";
import { test } from "node:test";
import { i32, LaunchError, open } from "isoform";
import { scan } from "isoform/patterns";

test("a pattern runs to its end, and is no promise", async () => {
  const device = await open("js");
  const [input, output] = [device.from(i32, [1, 2, 3]), device.array(i32, 3)];
  const sums = scan(device, { input, output, op: "sum" });
  await sums.run();
  assert.deepEqual([...(await device.queue.read(output))], [1, 3, 6]);
  await assert.rejects(
    // @ts-expect-error it has a `then` that takes no callbacks
    async () => await sums,
    (error) => error instanceof LaunchError && error.message.includes("write await pattern.run()"),
  );
  sums.free();
  await device.close();
});
