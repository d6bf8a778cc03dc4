import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../ops/build/bundle.ts';
import { benchDatabase } from './database.ts';
import { startSink } from './mail.ts';
import { median, number, type Section, table, verdict } from './report.ts';
import { startService } from './service.ts';
import { type Place, works } from './telemetry-work.ts';
import { withoutSpans } from './without-spans.ts';

const rounds = 5;
const mostOn = 1.2;
const mostOff = 1.03;
const bareModule = '.cache/bench/bundle/askback-without-spans.mjs';

const kinds = ['bare', 'off', 'on'] as const;
type Kind = (typeof kinds)[number];
type Measured = { cpuMicroseconds: number; perSecond: number };
type Rounds = Record<Kind, Measured[]>;

/**
 * The same work by three services in turn: one built without spans, one that exports nothing, and one that
 * exports every span and measurement to a live collector.
 */
export async function telemetry(server: string): Promise<Section[]> {
  await bundle('src/main.ts', bareModule, [withoutSpans]);
  const collector = forked('./collector.ts');
  const receiver = forked('./receiver.ts');
  const sink = await startSink();
  const ports = await Promise.all([collector, receiver].map(portOf));
  const mail = { ASKBACK_SMTP_URL: `${sink.url}?tls=none&connections=20` };
  const exporting = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${ports[0]}` };
  const places = new Map<Kind, Place>();
  try {
    for (const kind of kinds) {
      const database = await benchDatabase(server);
      const settings = { ...mail, ...(kind === 'on' ? exporting : {}) };
      const module = kind === 'bare' ? { module: bareModule } : {};
      const service = await startService(database.url, settings, module);
      places.set(kind, { database, service, receiverPort: ports[1]! });
    }
    const measured = new Map<string, Rounds>();
    for (const name of Object.keys(works)) measured.set(name, await compare(name, places));
    await places.get('on')!.service.stop();
    const exported = await arrived(collector, 'POST /s/:token');
    return [{ title, lines: lines(measured, exported) }];
  } finally {
    for (const { service, database } of places.values()) {
      await service.stop();
      await database.drop();
    }
    for (const child of [collector, receiver]) child.kill();
    await sink.worker.terminate();
  }
}

const title = 'Telemetry: what it costs, by the processor time of the same work';

const forked = (file: string) => fork(fileURLToPath(new URL(file, import.meta.url)));
const portOf = async (child: ChildProcess) => ((await once(child, 'message')) as [number])[0];

async function arrived(collector: ChildProcess, name: string): Promise<number> {
  collector.send(name);
  return portOf(collector);
}

/** In turn, and the first round does not count: the machine is the same for all three. */
async function compare(name: string, places: ReadonlyMap<Kind, Place>): Promise<Rounds> {
  const measured: Rounds = { bare: [], off: [], on: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of round % 2 ? kinds : kinds.toReversed()) {
      const place = places.get(kind)!;
      const work = await works[name]!(place);
      const before = place.service.cpuMs();
      const { count, ms } = await work();
      const cpuMicroseconds = ((place.service.cpuMs() - before) * 1000) / count;
      if (round > 0) measured[kind].push({ cpuMicroseconds, perSecond: (count * 1000) / ms });
    }
  }
  return measured;
}

function lines(measured: ReadonlyMap<string, Rounds>, exported: number): string[] {
  const rows = [...measured].map(([name, { bare, off, on }]) => {
    const [onRatio, offRatio] = [ratio(on, off), ratio(off, bare)];
    const cells = [bare, off, on].flatMap((each) => [
      number(median(each.map(({ cpuMicroseconds }) => cpuMicroseconds))),
      number(median(each.map(({ perSecond }) => perSecond))),
    ]);
    return [
      name,
      ...cells,
      `${number(onRatio, 2)} ${verdict(onRatio <= mostOn)}`,
      `${number(offRatio, 2)} ${verdict(offRatio <= mostOff)}`,
    ];
  });
  const heads = ['', 'without spans: CPU µs', 'rate', 'off: CPU µs', 'rate', 'on: CPU µs', 'rate'];
  return [
    ...table([...heads, `on/off, at most ${mostOn}`, `off/without, at most ${mostOff}`], rows),
    '',
    `Medians of ${rounds} rounds taken in turn; ratios are medians of those within a round. On: sampling 100 %, traces and ` +
      `metrics to a collector on the same machine, which got ${number(exported)} spans of answers.`,
  ];
}

function ratio(some: readonly Measured[], others: readonly Measured[]): number {
  return median(
    some.map(({ cpuMicroseconds }, at) => cpuMicroseconds / others[at]!.cpuMicroseconds),
  );
}
