import { u8 } from "../../kernel/declare/storage.js";
import { IsoformError } from "../../base/errors.js";
import { copyBetween, devices, subDevices, type DeviceSet } from "../../set/index.js";
import type { RankLink } from "../../skeleton/ranks/links.js";
import type { MessageCarrier } from "../../skeleton/ranks/prediction.js";
import { median } from "../statistics.js";

/** A link as messages there and back found it, and who carries them. */
export interface MeasuredLink extends RankLink {
  readonly carrier: MessageCarrier;
  /** One way, by bytes. */
  readonly seconds: Readonly<Record<number, number>>;
}

/** Bytes of messages: the smallest gives the latency, both the bandwidth. */
const SIZES = [8, 4 * 2 ** 20] as const;
/** Bursts, whose median counts, and messages there and back in each. */
const BURSTS = 15;
const ROUND_TRIPS: Readonly<Record<number, number>> = { [SIZES[0]]: 50, [SIZES[1]]: 4 };

/** Seconds of messages one way, and what the host spent on each. */
interface OneWay {
  readonly seconds: number;
  readonly host: number;
}

/**
 * Sends messages between two members, there and back: of one process, or of two ranks of `mpi:`.
 * @throws IsoformError where the devices are not two members
 */
export async function pingPong(spec: string): Promise<MeasuredLink> {
  const set = await devices(spec);
  try {
    const perRank = (await subDevices(spec.replace(/^mpi:/, ""))).length;
    const count = perRank * (set.ranks?.count ?? 1);
    if (count < 2) throw new IsoformError(`--devices ${spec} is ${count} member, and a link needs two`);
    const times = new Map<number, OneWay>();
    for (const bytes of SIZES) times.set(bytes, await wayOf(set)(set, perRank, bytes));
    return { ...linkFrom(times), carrier: carrierOf(set) };
  } finally {
    await set.close();
  }
}

/** Latency from the small message, bandwidth from what the large one takes longer. */
export function linkFrom(times: ReadonlyMap<number, OneWay>): Omit<MeasuredLink, "carrier"> {
  const [small, large] = SIZES;
  const { seconds, host } = times.get(small)!;
  // All of the time counts if noise hides the difference.
  const difference = times.get(large)!.seconds - seconds;
  return {
    bandwidth: difference > 0 ? (large - small) / difference : large / times.get(large)!.seconds,
    latency: Math.max(0, seconds - host),
    host,
    seconds: Object.fromEntries([...times].map(([bytes, time]) => [bytes, time.seconds])),
  };
}

/** The way that messages of programs take on this set. */
function wayOf({ ranks, carrier }: DeviceSet): (set: DeviceSet, perRank: number, bytes: number) => Promise<OneWay> {
  if (carrier) return carried;
  return ranks ? betweenRanks : (set, _, bytes) => betweenMembers(set, bytes);
}

/** Members of one memory run in turns; ranks on processors carry their messages themselves. */
function carrierOf({ locals, ranks }: DeviceSet): MessageCarrier {
  const memories = new Set(locals.map(({ device }) => device.memory));
  if (!ranks && memories.size < locals.length) return "in turns";
  return [...memories].some(({ name }) => name === "cpu") ? "processor" : "devices";
}

async function betweenRanks({ ranks, transport }: DeviceSet, perRank: number, bytes: number): Promise<OneWay> {
  const { rank } = ranks!;
  const memory = new Uint8Array(bytes);
  let posting = 0;
  const send = async (from: number, to: number, number: number): Promise<void> => {
    const [giver, taker] = [from / perRank, to / perRank];
    const isMine = rank === giver || rank === taker;
    const message = { from, to, number, bytes, name: "ping-pong", source: memory, target: memory };
    const start = performance.now();
    transport!.post(
      isMine ? [{ ...message, source: rank === giver ? memory : undefined, target: rank === taker ? memory : undefined }] : [],
    );
    posting += (performance.now() - start) / 1e3;
    await transport!.arrived("the ping-pong of a scaling study");
  };
  await ranks!.barrier();
  return inBursts(bytes, async (roundTrips) => {
    posting = 0;
    for (let n = 0; n < roundTrips; n++) {
      await send(0, perRank, 0);
      await send(perRank, 0, 0);
    }
    return posting;
  });
}

/** Messages between memories of devices, in a graph, as programs have them: the host starts all at once. */
async function carried({ ranks, carrier, locals: [member] }: DeviceSet, _: number, bytes: number): Promise<OneWay> {
  const { rank } = ranks!;
  await ranks!.barrier();
  if (rank > 1) return { seconds: 0, host: 0 };
  const view = member.device.array(u8, bytes);
  const [other, stream] = [1 - rank, member.queue(0)];
  carrier!.connect([other]);
  const send = (from: number): void => carrier!.enqueue([{ way: rank === from ? "send" : "receive", rank: other, view }], stream);
  const graph = stream.capture(() => {
    for (let n = 0; n < ROUND_TRIPS[bytes]; n++) [0, 1].forEach(send);
  });
  try {
    return await inBursts(bytes, async (roundTrips) => {
      carrier!.submitting();
      stream.submit(graph);
      carrier!.submitted(stream, "in the ping-pong of a scaling study", 2 * roundTrips);
      await stream.finish();
      return 0;
    });
  } finally {
    graph.free();
    view.free();
  }
}

/** Copies on the devices take no time of the host that kernels wait for. */
async function betweenMembers({ locals: [first, second] }: DeviceSet, bytes: number): Promise<OneWay> {
  const [here, there] = [first, second].map(({ device }) => device.array(u8, bytes));
  const [own, other] = [first.queue(0), second.queue(0)];
  try {
    return await inBursts(bytes, async (roundTrips) => {
      for (let n = 0; n < roundTrips; n++) {
        copyBetween(here, there, own, other);
        other.wait(own.record());
        copyBetween(there, here, other, own);
        own.wait(other.record());
      }
      await own.finish();
      await other.finish();
      return 0;
    });
  } finally {
    here.free();
    there.free();
  }
}

/** Times of bursts of messages there and back, in the middle; `send` sends one, and gives the seconds that the host spent on its messages. */
async function inBursts(bytes: number, send: (roundTrips: number) => Promise<number>): Promise<OneWay> {
  const roundTrips = ROUND_TRIPS[bytes];
  const bursts: OneWay[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    const start = performance.now();
    const host = await send(roundTrips);
    bursts.push({ seconds: (performance.now() - start) / 1e3 / (2 * roundTrips), host: host / (2 * roundTrips) });
  }
  return { seconds: median(bursts.map(({ seconds }) => seconds)), host: median(bursts.map(({ host }) => host)) };
}
