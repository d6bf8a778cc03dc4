import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after } from 'node:test';
import type { DnsAnswer, Resolver } from '../../../src/operations/doctor-dns.ts';

export const servfail = '(the servers of the name fail)';
export const noAnswer = '(no answer)';

/** `{ 'TXT example.com': ['v=spf1 -all'], 'MX example.com': ['10 mx.example.com'] }` */
export type Zone = Readonly<Record<string, readonly string[]>>;

/** A resolver that only knows a zone and records its queries. */
export function fakeResolver(zone: Zone, asked: string[] = []): Resolver {
  const resolve = async (type: string, name: string): Promise<DnsAnswer<unknown>> => {
    asked.push(`${type} ${name}`);
    const records = lookUp(zone, type, name);
    if (records?.includes(servfail)) return { kind: 'failed', why: 'its name servers fail' };
    if (records) {
      return { kind: 'found', records: type === 'MX' ? records.map(exchangeOf) : [...records] };
    }
    return exists(zone, name) ? { kind: 'nothing' } : { kind: 'no_name' };
  };
  return resolve as Resolver;
}

function lookUp(zone: Zone, type: string, name: string) {
  return Object.entries(zone).find(
    ([key]) => key.toLowerCase() === `${type} ${name}`.toLowerCase(),
  )?.[1];
}

const exists = (zone: Zone, name: string) =>
  Object.keys(zone).some((key) => {
    const known = key.slice(key.indexOf(' ') + 1).toLowerCase();
    return known === name.toLowerCase() || known.endsWith(`.${name.toLowerCase()}`);
  });

function exchangeOf(text: string) {
  const [priority, exchange = ''] = text.split(' ');
  return { priority: Number(priority), exchange };
}

const types: Readonly<Record<number, string>> = {
  1: 'A',
  12: 'PTR',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
};
const mostOverUdp = 512;

/** A real name server for a zone, on UDP and TCP of the same port. Long answers are truncated on UDP. */
export async function nameServer(zone: Zone) {
  const seen: string[] = [];
  const tcp = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      const answer = answerTo(zone, data.subarray(2), seen, 'tcp');
      if (answer) socket.write(Buffer.concat([uint16(answer.length), answer]));
    });
  });
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4');
  udp.on('message', (data: Buffer, { port: from, address }: RemoteInfo) => {
    const answer = answerTo(zone, data, seen, 'udp');
    if (answer) udp.send(answer.length > mostOverUdp ? truncated(data) : answer, from, address);
  });
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  after(() => {
    udp.close();
    tcp.close();
  });
  return { seen, server: `127.0.0.1:${port}` };
}

/** The header and question with the truncation bit, so that the resolver asks again over TCP. */
function truncated(query: Buffer): Buffer {
  const { end } = questionOf(query);
  return Buffer.concat([headerOf(query, { flags: 0x8600, answers: 0 }), query.subarray(12, end)]);
}

function answerTo(zone: Zone, query: Buffer, seen: string[], over: string): Buffer | undefined {
  const { name, type, end } = questionOf(query);
  seen.push(`${over} ${type} ${name}`);
  const records = lookUp(zone, type, name) ?? [];
  if (records.includes(noAnswer)) return undefined;
  const code = records.includes(servfail) ? 2 : exists(zone, name) ? 0 : 3;
  const given = code === 0 ? records : [];
  const header = headerOf(query, { flags: 0x8400 | code, answers: given.length });
  const answers = given.map((record) => recordOf(query.subarray(end - 4, end - 2), type, record));
  return Buffer.concat([header, query.subarray(12, end), ...answers]);
}

function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  return { name: labels.join('.'), type: types[query.readUInt16BE(at + 1)] ?? '?', end };
}

const uint16 = (value: number) => Buffer.from([value >> 8, value & 255]);

const headerOf = (query: Buffer, { flags, answers }: { flags: number; answers: number }) =>
  Buffer.concat([query.subarray(0, 2), ...[flags, 1, answers, 0, 0].map(uint16)]);

function recordOf(type: Buffer, kind: string, record: string): Buffer {
  const data = dataOf(kind, record);
  const pointer = Buffer.from([0xc0, 12]);
  const rest = [Buffer.from([0, 1]), Buffer.from([0, 0, 0, 60]), uint16(data.length), data];
  return Buffer.concat([pointer, type, ...rest]);
}

function dataOf(kind: string, record: string): Buffer {
  if (kind === 'A') return Buffer.from(record.split('.').map(Number));
  if (kind === 'AAAA')
    return Buffer.concat(record.split(':').map((part) => uint16(Number.parseInt(part, 16))));
  if (kind === 'PTR') return nameOf(record);
  if (kind === 'TXT') {
    const strings = record.match(/.{1,255}/g) ?? [''];
    return Buffer.concat(strings.map((text) => Buffer.from([text.length, ...Buffer.from(text)])));
  }
  const { priority, exchange } = exchangeOf(record);
  return Buffer.concat([uint16(priority), nameOf(exchange)]);
}

const nameOf = (name: string) =>
  Buffer.concat([
    ...name
      .split('.')
      .filter((label) => label !== '')
      .map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
