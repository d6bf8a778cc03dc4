import net from 'node:net';

/** The part of the driver's options that says where the server is, and whether by TLS. */
type Place = {
  path?: string | false;
  host: readonly string[];
  port: readonly number[];
  ssl: unknown;
};

/** A socket to the server of these options, for postgres.js. */
export function connectSocket({ path, host, port, ssl }: Place): net.Socket {
  const place = path ? { path } : { port: port[0]!, host: host[0]! };
  const socket = ssl ? net.connect(place) : connectReading(place);
  return refuseEarlyEnd(Object.assign(socket, { host: host[0], port: port[0] }));
}

/** What Node itself reads at once. All sockets share it: what has come is copied out before the next one reads. */
const readBuffer = Buffer.allocUnsafeSlow(65_536);

/**
 * A socket that publishes what comes without the machinery of a stream. That takes 64 KB of new memory for
 * each read, however small, and collecting it costs more than the small answers of Postgres themselves.
 */
function connectReading(place: net.NetConnectOpts): net.Socket {
  const callback = (bytes: number, buffer: Uint8Array) => {
    socket.emit('data', Buffer.from(buffer.subarray(0, bytes)));
    return true;
  };
  const socket = net.connect({ ...place, onread: { buffer: readBuffer, callback } });
  return socket;
}

/**
 * Makes an error of a connection that the other side ends before it has said anything, as proxies do that have no
 * server. The driver would connect again at once and without an end, and its statement would wait.
 */
export function refuseEarlyEnd(socket: net.Socket): net.Socket {
  return socket.once('end', () => {
    if (socket.bytesRead === 0) socket.destroy(endedEarly());
  });
}

const endedEarly = () =>
  Object.assign(new Error('the connection was closed before the server answered'), {
    code: 'ECONNRESET',
  });
