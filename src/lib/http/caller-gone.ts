import type { Context } from 'hono';

/** Whether the client has closed its connection, so that it gets no answer. What it asked to be written it may still want. */
export const isCallerGone = (c: Context): boolean => c.env?.incoming?.socket?.destroyed === true;
