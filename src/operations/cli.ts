import { isIP, isIPv4 } from 'node:net';
import * as v from 'valibot';
import manifest from '../../package.json' with { type: 'json' };
import type { CommandTools } from '../command-tools.ts';
import { columns, command, Email, flag, optional } from '../lib/cli/command.ts';
import { migrate } from '../lib/db/migrate.ts';
import { readAsset } from '../lib/process/lifecycle.ts';
import { prepareQueue } from '../lib/queue/enqueue.ts';
import { openDatabase } from '../open-database.ts';
import { formatSetting, redactedConfig, Settings, unknownSettings } from '../settings.ts';
import { files } from './archive.ts';
import { examine, withShortWait } from './doctor.ts';
import { createResolver } from './doctor-dns.ts';
import { type Finding, recordLine } from './findings.ts';
import { fetchHealth, findService } from './health.ts';
import { checkAlert } from './runbook.ts';

const serverForm = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/;
/** An IP address with an optional port. A name could not be resolved without a name server. */
const NameServer = v.pipe(
  v.string(),
  v.check((text) => {
    const [, bracketed = '', plain = '', port = '53'] = serverForm.exec(text) ?? [];
    const address = isIP(text) === 6 ? text : bracketed || plain;
    const kind = bracketed || address === text ? isIP(address) : isIPv4(address) ? 4 : 0;
    return kind !== 0 && Number(port) >= 1 && Number(port) <= 65_535;
  }, 'must be an IP address, or one with a port such as 127.0.0.1:5353'),
);

const checkConfig = command({
  name: 'check-config',
  does: 'validates the environment and prints the resulting settings',
  options: {},
  async run(tools: CommandTools) {
    const settings = redactedConfig(tools.config());
    for (const warning of unknownSettings(
      Object.keys(tools.environment),
      Object.keys(Settings.entries),
    )) {
      tools.say(`warning: ${warning}`);
    }
    const rows = Object.entries(settings).map(([name, value]) => [name, formatSetting(value)]);
    return { data: settings, text: `the environment is valid\n\n${columns(rows)}` };
  },
});

const IpAddress = v.pipe(
  v.string(),
  v.check((text) => isIP(text) !== 0, 'must be an IP address'),
);

const doctor = command({
  name: 'doctor',
  does: 'checks the database, schema, clock, secret key, disk, public URL, mail server and DNS',
  options: {
    from: {
      schema: v.optional(v.array(Email)),
      value: 'EMAIL',
      does: 'a sender to check in addition to the senders of surveys',
      repeatable: true,
    },
    'sends-from': {
      schema: v.optional(v.array(IpAddress)),
      value: 'ADDRESS',
      does: "an IP address that emails are sent from, if it is not the mail server's",
      repeatable: true,
    },
    resolver: optional(
      NameServer,
      'ADDRESS[:PORT]',
      "the name server to ask, such as the domain's own, instead of this machine's",
    ),
    alert: optional(
      v.string(),
      'NAME',
      'prints the runbook section of an alert such as AskbackQueueStuck and runs its queries instead',
    ),
  },
  async run(tools: CommandTools, values) {
    if (values.alert) return await checkAlert(withShortWait(tools.config()), tools, values.alert);
    const dns = createResolver({ server: values.resolver });
    const options = { from: values.from ?? [], sendsFrom: values['sends-from'] ?? [] };
    const checks = await examine(tools.config(), { ...tools, dns }, options);
    const ok = checks.every(({ status }) => status !== 'fail');
    return { data: { ok, checks }, text: formatFindings(checks), exitCode: ok ? 0 : 1 };
  },
});

function formatFindings(checks: readonly Finding[]): string {
  const lines = columns(checks.map(({ status, name, message }) => [status, name, message]));
  return lines
    .split('\n')
    .flatMap((line, place) => [
      line,
      ...(checks[place]?.records ?? []).map((record) => `      ${recordLine(record)}`),
    ])
    .join('\n');
}

const healthcheck = command({
  name: 'healthcheck',
  does: 'checks whether the service on this machine is alive, for container engines',
  options: { ready: flag('check whether it is ready to serve, including its database') },
  async run(tools: CommandTools, { ready }) {
    const address = await findService(tools.config(), tools);
    const url = `${address}${ready ? '/readyz' : '/healthz'}`;
    const { status, sentence } = await fetchHealth(url);
    return {
      data: { url, status, healthy: status === 200 },
      text: sentence,
      exitCode: status === 200 ? 0 : 1,
    };
  },
});

const version = command({
  name: 'version',
  does: 'prints the version',
  options: {},
  run: async (_tools: CommandTools) => ({
    data: { version: manifest.version, node: process.versions.node },
    text: `askback ${manifest.version}`,
  }),
});

const licenses = command({
  name: 'licenses',
  does: 'prints the licenses of the software in askback',
  options: {},
  async run(_tools: CommandTools) {
    const text = readAsset('ops/licenses.txt').trimEnd();
    return { data: { licenses: text }, text };
  },
});

const migrateCommand = command({
  name: 'migrate',
  does: 'applies missing migrations to the database',
  options: {},
  async run(tools: CommandTools) {
    const { db, sessions, close } = await openDatabase(tools.config(), {
      ...tools,
      connections: 2,
    });
    try {
      await prepareQueue(db, sessions);
      const applied = await migrate(db);
      const text =
        applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`;
      return { data: { applied }, text };
    } finally {
      await close();
    }
  },
});

export const operationCommands = [
  migrateCommand,
  checkConfig,
  doctor,
  healthcheck,
  version,
  licenses,
  files,
];
