import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { limitedClient } from './client-address.ts';

export type ConnectionLimits = { connections: number; perClient: number };

type Group = { limit: number; open: Set<Connection>; idle: Set<Connection> };
type Connection = { socket: Socket; groups: readonly Group[]; requests: number };

const newGroup = (limit: number): Group => ({ limit, open: new Set(), idle: new Set() });

/**
 * Limits the connections of all servers together and of each client. Above a limit, a new connection replaces the one
 * that has been idle longest. If none is idle, the new connection is closed.
 */
export function limitConnections(
  servers: readonly Server[],
  { connections, perClient }: ConnectionLimits,
  trustedProxies: readonly string[],
) {
  const all = newGroup(connections);
  const clients = new Map<string, Group>();
  const connectionOf = new WeakMap<Socket, Connection>();
  const clientOf = limitedClient(trustedProxies);

  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      const client = clientOf(socket.remoteAddress);
      const own = client === undefined ? undefined : (clients.get(client) ?? newGroup(perClient));
      const groups = own ? [own, all] : [all];
      if (!groups.every(makeRoom)) return void socket.destroy();
      const connection = { socket, groups, requests: 0 };
      connectionOf.set(socket, connection);
      for (const group of groups) group.open.add(connection);
      setIdle(connection);
      if (client !== undefined && own) clients.set(client, own);
      socket.once('close', () => {
        forget(connection);
        if (client !== undefined && own?.open.size === 0) clients.delete(client);
      });
    });
    server.prependListener('request', ({ socket }, response) => {
      const connection = connectionOf.get(socket);
      if (!connection) return;
      connection.requests += 1;
      for (const { idle } of connection.groups) idle.delete(connection);
      response.once('close', () => {
        connection.requests -= 1;
        if (connection.requests === 0 && all.open.has(connection)) setIdle(connection);
      });
    });
  }
}

/** Closes the connection that has been idle longest when the group is full. Returns false when none is idle. */
function makeRoom({ limit, open, idle }: Group): boolean {
  if (open.size < limit) return true;
  const [oldest] = idle;
  if (!oldest) return false;
  forget(oldest);
  oldest.socket.destroy();
  return true;
}

/** Sets keep insertion order, so the first has been idle longest. */
function setIdle(connection: Connection) {
  for (const { idle } of connection.groups) idle.add(connection);
}

function forget(connection: Connection) {
  for (const { open, idle } of connection.groups) {
    open.delete(connection);
    idle.delete(connection);
  }
}
