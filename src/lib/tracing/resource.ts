import { randomUUID } from 'node:crypto';
import { arch, hostname, platform, release } from 'node:os';
import type { Attributes } from '@opentelemetry/api';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What telemetry says of the process that it comes from: `attributes`, which OTEL_RESOURCE_ATTRIBUTES may
 * override, and `named`, which it may not. Never the command line or an owner.
 */
export function resourceOf(environment: Environment, program: { name: string; version: string }) {
  const asked = environment['OTEL_NODE_RESOURCE_DETECTORS'] || 'service';
  const detectors = asked.split(',').map((name) => name.trim());
  const wanted = (name: string) => detectors.includes(name) || detectors.includes('all');
  const attributes: Attributes = {
    'service.name': program.name,
    'service.version': program.version,
    ...(wanted('service') ? { 'service.instance.id': randomUUID() } : {}),
    ...(wanted('host') ? host() : {}),
    ...(wanted('process') ? runtime() : {}),
  };
  const name = environment['OTEL_SERVICE_NAME'];
  return { attributes, named: name ? { 'service.name': name } : {} };
}

const host = (): Attributes => ({
  'host.name': hostname(),
  'host.arch': arch() === 'x64' ? 'amd64' : arch(),
  'os.type': platform(),
  'os.version': release(),
});

const runtime = (): Attributes => ({
  'process.pid': process.pid,
  'process.runtime.name': 'nodejs',
  'process.runtime.version': process.versions.node,
});
