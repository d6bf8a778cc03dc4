import * as v from 'valibot';

/** The versions of the Model Context Protocol that are spoken here, newest first. */
export const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

const Id = v.union([v.string(), v.number()]);

/** A message of JSON-RPC 2.0. Without an id it is a notification and gets no answer. */
export const RpcMessage = v.object({
  jsonrpc: v.literal('2.0'),
  id: v.optional(Id),
  method: v.optional(v.string()),
  params: v.optional(v.record(v.string(), v.unknown())),
});

export type RpcMessage = v.InferOutput<typeof RpcMessage>;

/** The codes of JSON-RPC for a message that cannot be followed. */
export const rpcCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
} as const;

export const rpcResult = (id: RpcMessage['id'], result: object) => ({ jsonrpc: '2.0', id, result });

export const rpcError = (id: RpcMessage['id'] | null, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** The version to speak with a client: the one it asks for, or else the newest. */
export const agreeOnVersion = (asked: unknown): string =>
  protocolVersions.find((version) => version === asked) ?? protocolVersions[0];

/** What a tool found, for the model as text and for programs as an object. */
export const toolResult = (found: object) => ({
  content: [{ type: 'text', text: JSON.stringify(found) }],
  structuredContent: found,
});

/** A tool that could not do it: the model reads why and can do better. */
export const toolFailure = (sentence: string) => ({
  content: [{ type: 'text', text: sentence }],
  isError: true,
});
