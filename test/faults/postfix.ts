import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Refusal } from '../../src/errors.ts';

const execute = promisify(execFile);

export type Ports = { listens: number; deliversTo: number };

/**
 * Debian's Postfix as a relay of its own: with a configuration, a queue and a log in a folder that is
 * gone afterwards, next to whatever the machine itself uses. It takes mail for `p<number>@people.test`
 * and for anybody at `refused.test`, and hands all of it to one server.
 */
export async function startPostfix(ports: Ports) {
  await requirePostfix();
  const folder = mkdtempSync(join(tmpdir(), 'askback-postfix-'));
  chmodSync(folder, 0o755); // its own accounts must get through
  await layOut(folder, ports);
  const settings = join(folder, 'settings');
  const run = (command: string) => execute('postfix', ['-c', settings, command]);
  await run('start');
  return {
    url: `smtp://127.0.0.1:${ports.listens}?tls=none&connections=10`,
    stop: () => run('stop'),
    start: () => run('start'),
    /** From the next start on, every recipient is asked to be tried later, or none is. */
    putOff: (every: boolean) => writeFileSync(join(settings, 'recipients'), every ? putOffAll : ''),
    async queued() {
      const { stdout } = await execute('postqueue', ['-c', settings, '-j']);
      return stdout.split('\n').filter(Boolean).length;
    },
    log: () => readFileSync(join(folder, 'mail.log'), 'utf8').split('\n'),
    async end() {
      await run('stop').catch(() => {}); // it may be stopped
      rmSync(folder, { recursive: true });
    },
  };
}

export type Postfix = Awaited<ReturnType<typeof startPostfix>>;

const putOffAll = '/./ 451 4.3.0 busy, try again later\n';

async function requirePostfix() {
  if (process.getuid?.() !== 0) {
    throw new Refusal('unavailable', 'this part starts Postfix, and that takes root');
  }
  await execute('postconf', ['-h', 'mail_version']).catch(() => {
    throw new Refusal(
      'unavailable',
      'Postfix is not installed: apt-get install --no-install-recommends postfix, then try again',
    );
  });
}

async function layOut(folder: string, { listens, deliversTo }: Ports) {
  const { stdout } = await execute('id', ['-u', 'postfix']);
  for (const name of ['settings', 'queue', 'data']) mkdirSync(join(folder, name));
  // What repairs a queue that was left in the middle writes to the log as that account, too.
  writeFileSync(join(folder, 'mail.log'), '');
  for (const name of ['data', 'mail.log']) chownSync(join(folder, name), Number(stdout), 0);
  const files = {
    'main.cf': mainOf(folder),
    'master.cf': masterOf(listens),
    known: '/^p[0-9]+@people\\.test$/ known\n/@refused\\.test$/ known\n',
    routes: `/./ smtp:[127.0.0.1]:${deliversTo}\n`,
    recipients: '',
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, 'settings', name), text);
}

const mainOf = (folder: string) => `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
myhostname = relay.example
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relay_domains = people.test, refused.test, bounces.example
relay_recipient_maps = regexp:${folder}/settings/known
transport_maps = regexp:${folder}/settings/routes
smtpd_recipient_restrictions = check_recipient_access regexp:${folder}/settings/recipients
smtpd_peername_lookup = no
smtpd_error_sleep_time = 0
smtpd_hard_error_limit = 1000
enable_long_queue_ids = yes
in_flow_delay = 0
minimal_backoff_time = 2s
queue_run_delay = 2s
`;

/** Nothing in a changed root, and only one listener. */
const masterOf = (port: number) => `
127.0.0.1:${port} inet n - n - - smtpd
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
proxymap  unix - - n - - proxymap
smtp      unix - - n - - smtp
showq     unix n - n - - showq
error     unix - - n - - error
retry     unix - - n - - error
flush     unix n - n 1000? 0 flush
anvil     unix - - n - 1 anvil
scache    unix - - n - 1 scache
postlog   unix-dgram n - n - 1 postlogd
`;
