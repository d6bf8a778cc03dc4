import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/processes/free-port.ts';
import { type Program, startProgram } from './programs.ts';

/** The service's processes behind HAProxy without TLS, as configured in the manual. */
export function startServiceProxy(home: string, addresses: readonly string[]) {
  const port = freePort();
  const [, manual = ''] =
    /```haproxy\n([\s\S]*?)```/.exec(readFileSync('ops/proxy.md', 'utf8')) ?? [];
  const [line, options] = /^ {4}server one \S+ (check.*)\n/m.exec(manual) ?? [];
  if (!line) throw new Error('ops/proxy.md has no server line for HAProxy');
  const servers = addresses.map(
    (address, n) => `    server process${n} ${new URL(address).host} ${options}\n`,
  );
  const text = manual
    .replace(line, servers.join(''))
    .replace(/bind :443 ssl crt \S+/, `bind 127.0.0.1:${port}`);
  return {
    address: `http://127.0.0.1:${port}`,
    program: startHaproxy({ home, name: 'proxy', text }),
  };
}

type Member = { port: number; restPort: number };

/** A single address that always routes to the leader of a Patroni cluster, as configured in Patroni's manual. */
export function startLeaderProxy(home: string, members: readonly Member[]) {
  const port = freePort();
  const servers = members.map(
    ({ port: own, restPort }, n) =>
      `    server member${n} 127.0.0.1:${own} check port ${restPort}\n`,
  );
  const text = `defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h

listen leader
    bind 127.0.0.1:${port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('')}`;
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return { url, program: startHaproxy({ home, name: 'leader-proxy', text }) };
}

function startHaproxy({ home, name, text }: { home: string; name: string; text: string }): Program {
  const file = join(home, `${name}.cfg`);
  writeFileSync(file, text);
  return startProgram({ home, name, command: ['haproxy', '-db', '-f', file] });
}
