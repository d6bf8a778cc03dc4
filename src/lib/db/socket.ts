import net from 'node:net';

/** The part of the driver's options that says where the server is. */
type Place = { path?: string | false; host: readonly string[]; port: readonly number[] };

/** A socket to the server of these options, for postgres.js. */
export function connectSocket({ path, host, port }: Place): net.Socket {
  const socket = path ? net.connect(path) : net.connect(port[0]!, host[0]!);
  return refuseEarlyEnd(Object.assign(socket, { host: host[0], port: port[0] }));
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
