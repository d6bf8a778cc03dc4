import type { Socket } from 'node:net';
import type { Context } from 'hono';

/**
 * How to ask whether the client has closed its connection, so that it gets no answer. What it asked to be written it may
 * still want. The function leads to the connection and not to the request: the turn of a statement outlives both in
 * memory, and each request that it kept was copied at the next two collections.
 */
export const watchCaller = (c: Context): (() => boolean) => watch(c.env?.incoming?.socket);

const watch = (socket: Socket | undefined) => () => socket?.destroyed === true;
