import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { Settings, validateRole } from '../../src/settings.ts';

type Container = {
  args: string[];
  securityContext: { readOnlyRootFilesystem: boolean };
  volumeMounts?: { mountPath: string }[];
  readinessProbe?: { httpGet: { path: string } };
  livenessProbe?: { httpGet: { path: string } };
};
type Pod = {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: Container[];
    securityContext: { runAsUser: number };
    terminationGracePeriodSeconds?: number;
  };
};
type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    template?: Pod;
    replicas?: number;
    minAvailable?: number;
    selector?: Record<string, unknown> & { matchLabels?: Record<string, string> };
  };
};

const text = readFileSync('ops/kubernetes/askback.yaml', 'utf8');
const manifests = parseAllDocuments(text).map((each) => each.toJS() as Manifest);
const ofKind = (kind: string) => manifests.filter((each) => each.kind === kind);
const deployments = ofKind('Deployment');
const pods = [...deployments, ...ofKind('Job')].map(({ spec }) => spec!.template!);

test('the manifest sets everything that its roles need, and nothing unknown', () => {
  const { data } = ofKind('ConfigMap')[0]!;
  const inSecret = [...text.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name!);
  const given = [...Object.keys(data!), ...inSecret];
  assert.deepEqual(
    given.filter((name) => !(name in Settings.entries)),
    [],
  );
  const roles = pods
    .flatMap(({ spec }) => spec.containers[0]!.args)
    .filter((word) => /^(web|jobs)$/.test(word));
  assert.deepEqual(roles, ['web', 'jobs']);
  for (const role of roles)
    assert.deepEqual(
      validateRole(role, (name) => given.includes(name)),
      [],
    );
});

test('pods run as the account of the image and only write to volumes', () => {
  const image = readFileSync('ops/container/Containerfile', 'utf8');
  const user = Number(/^USER (\d+):/m.exec(image)![1]);
  const [, dataDir] = /ASKBACK_DATA_DIR=(\S+)/.exec(image)!;
  for (const { spec } of pods) {
    assert.equal(spec.securityContext.runAsUser, user);
    assert.equal(spec.containers[0]!.securityContext.readOnlyRootFilesystem, true);
  }
  for (const { spec } of deployments) {
    const mounts = spec!.template!.spec.containers[0]!.volumeMounts!.map((each) => each.mountPath);
    assert.ok(mounts.includes(dataDir!));
  }
});

test('pods have probes for both roles, and enough time to stop', () => {
  const drain = Number(ofKind('ConfigMap')[0]!.data!['ASKBACK_DRAIN_SECONDS']);
  for (const { spec } of deployments) {
    const pod = spec!.template!.spec;
    assert.equal(pod.containers[0]!.readinessProbe!.httpGet.path, '/readyz');
    assert.equal(pod.containers[0]!.livenessProbe!.httpGet.path, '/healthz');
    assert.ok(pod.terminationGracePeriodSeconds! > 30 + drain);
  }
});
