import { Socket } from 'node:net';
import { Refusal } from '../../errors.ts';

/** What LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES say: sockets that were opened before we were started. */
export type PassedSockets = Readonly<{
  count: number;
  pid: number | null;
  names: readonly string[];
}>;

/** Where the passed descriptors begin, by convention. */
const firstDescriptor = 3;
/** The name of a socket that is for metrics; every other one is for requests. */
const metricsName = 'metrics';

/** The descriptors by what they are for, or what is wrong with them: one sentence. */
export function sortPassedSockets(
  { count, pid, names }: PassedSockets,
  ownPid: number,
): { requests: number[]; metrics: number[] } | string {
  if (count > 0 && pid !== ownPid) {
    return `LISTEN_PID: the sockets are for the process ${pid} and this is ${ownPid}: start this program itself there, with \`exec\` if a shell starts it`;
  }
  const descriptors = Array.from({ length: count }, (_, place) => firstDescriptor + place);
  const isForMetrics = (_: number, place: number) => names[place] === metricsName;
  return {
    requests: descriptors.filter((it, place) => !isForMetrics(it, place)),
    metrics: descriptors.filter(isForMetrics),
  };
}

export type HeldSocket = { socket: Socket; host: string; port: number };

/**
 * A passed socket, known and not yet listened on: connections wait in its queue until somebody takes them,
 * this process or, if it never gets that far, the next one.
 */
export function holdSocket(descriptor: number): HeldSocket {
  const socket = open(descriptor);
  const { address: host, port } = socket.address() as { address?: string; port?: number };
  if (host && port && socket.remotePort === undefined) return { socket, host, port };
  socket.destroy();
  throw notListening(descriptor);
}

function open(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: false, writable: false });
  } catch {
    throw notListening(descriptor);
  }
}

const notListening = (descriptor: number) =>
  new Refusal(
    'unavailable',
    `LISTEN_FDS: the descriptor ${descriptor} is no TCP socket to listen on`,
  );
