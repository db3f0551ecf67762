import { f64 } from "../../../../src/index.js";
import { devices, Scalar, type LocalMember } from "../../../../src/set/index.js";
import { joinMpi } from "../../../../src/set/mpi/job.js";
import { MpiTransport } from "../../../../src/set/mpi/transport.js";
import { dense } from "../../../../src/domain/index.js";
import { writeRaw } from "../../../../src/io/index.js";
import { skeleton } from "../../../../src/skeleton/index.js";

/* Ranks that end in the way that the first word names. */

const set = await devices("mpi:js");
const { rank, count } = set.ranks!;
const impatient = (await joinMpi()).ranks({ patience: 1 });
const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600_000));
const memory = new Float64Array(8);
function scaling(by: number) {
  const grid = dense(set, [4, 4, 6]);
  const u = grid.field("u", f64);
  u.fill(1);
  return { grid, u, copy: grid.container("scale", { u, by }, ({ u, by }, c) => (u[c] *= by)) };
}
const ways: Readonly<Record<string, () => Promise<void>>> = {
  async throw() {
    if (rank === 1) throw new Error("the cat is on the keyboard");
    await wait();
  },
  // The others are at their end already.
  async "throw-late"() {
    await new Promise((resolve) => setTimeout(resolve, rank === 1 ? 700 : 0));
    if (rank === 1) throw new Error("the cat is on the keyboard");
  },
  async exit() {
    if (rank === 1) process.exit(3);
    await wait();
  },
  // Rank 0 waits for all others, which send nothing.
  async patience() {
    const transport = new MpiTransport(
      impatient,
      Array.from({ length: count }, (_, n) => n),
    );
    const others = Array.from({ length: count - 1 }, (_, n) => n + 1);
    if (rank === 0) {
      transport.post(others.map((from) => ({ from, to: 0, number: from, bytes: 64, name: "u", target: new Float64Array(8) })));
      await transport.arrived('skeleton "cg", iteration 12');
    }
    await wait();
  },
  async barrier() {
    if (rank > 0) await wait();
    await impatient.barrier();
  },
  // Its second half never comes, though messages before it were whole.
  async short() {
    const requests = impatient.requests();
    for (let n = 0; n < 3; n++) {
      if (rank === 0) requests.receive(memory, 1, n, "u");
      if (rank === 1) requests.send(memory, 0, n, "u");
      while (!requests.test()) await new Promise((resolve) => setImmediate(resolve));
    }
    if (rank === 0) requests.receive(memory, 1, 5, "u");
    if (rank === 1) requests.send(memory.subarray(4), 0, 5, "u");
    while (!requests.test()) await new Promise((resolve) => setImmediate(resolve));
    await wait();
  },
  async long() {
    const requests = impatient.requests();
    if (rank === 0) requests.receive(memory.subarray(4), 1, 5, "u");
    if (rank === 1) requests.send(memory, 0, 5, "u");
    while (!requests.test()) await new Promise((resolve) => setImmediate(resolve));
    await wait();
  },
  // All ranks throw alike.
  async auto() {
    const { copy } = scaling(1);
    skeleton(set, "auto", [copy], { occ: "auto" });
  },
  // A number that is not the same everywhere.
  async plans() {
    const { copy } = scaling(rank === 2 ? 1.5 : 1);
    await skeleton(set, "scaling", [copy]).run(1);
  },
  async first() {
    await set.ranks!.first(() => {
      if (rank === 0) throw new TypeError("the disk is full");
    });
  },
  async "other-devices"() {
    await devices(rank === 1 ? "mpi:wasm" : "mpi:js");
  },
  // Cells that are not the same everywhere, though as many in each plane.
  async cells() {
    dense(set, [8, 8, 6], { active: (x, _, z) => x !== (rank + z) % 8 });
  },
  async container() {
    const { grid, copy } = scaling(1 + rank);
    await grid.run(copy);
  },
  async iterations() {
    await skeleton(set, "scaling", [scaling(1).copy]).run(2 + rank);
  },
  async scalar() {
    const dt = new Scalar(set, "dt", f64);
    dt.set(0.5);
    dt.set(rank === 1 ? -0 : 0);
  },
  async "axis-array"() {
    dense(set, [4, 4, 3])
      .field("z", f64, { axes: ["z"] })
      .set([1, 2, rank === 2 ? 4 : 3]);
  },
  async order() {
    const { u } = scaling(1);
    for (const z of rank === 1 ? [3, 2] : [2, 3]) await u.get([1, 1, z]);
  },
  // The first and the second rank are at their end while others wait for them.
  async end() {
    const { u } = scaling(1);
    if (rank !== 1) await u.download();
  },
  async "first-end"() {
    if (rank !== 0) await set.ranks!.barrier();
  },
  // A value that is there after a call of all ranks, given to a call before that.
  async nested() {
    const value = async (): Promise<number> => {
      await Promise.resolve();
      return (await set.ranks!.gather(rank, "inner")).length;
    };
    await set.ranks!.gather(value(), "outer");
  },
  async file() {
    await writeRaw("no such folder/u", scaling(1).u);
  },
  async "other-member"() {
    (set.members[(rank + 1) % count] as LocalMember).queue(0);
  },
  async submit() {
    const scaled = skeleton(set, "scaling", [scaling(1).copy]);
    const ran = scaled.run(2);
    scaled.submit(1);
    await ran;
  },
  async "no-device"() {
    await devices("mpi:nothing");
  },
};
await ways[process.argv[2]]();
