import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { instruments } from '../../src/observations/instruments.ts';
import { headingsOf } from '../support/probe/markdown.ts';
import { complaintsAbout, knownMetrics, readQuery } from '../support/probe/promql.ts';

type Rule = {
  record?: string;
  alert: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};
type Panel = {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { uid: string };
  fieldConfig?: { defaults: { unit?: string } };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string }[];
};
type Trial = { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] };

const yaml = (file: string) => parse(readFileSync(file, 'utf8'), { strict: true });
const rules: Rule[] = yaml('ops/prometheus/rules.yml').groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const alerts = rules.filter(({ alert }) => alert);
const dashboard = JSON.parse(readFileSync('ops/grafana/askback.json', 'utf8'));
const panels: Panel[] = dashboard.panels;
const shown = panels.filter(({ type }) => type !== 'row');

/** Rules may query the results of recording rules, by the labels that these keep. */
const known = await knownMetrics();
for (const { record, expr } of rules) {
  const kept = readQuery(expr).groupedBy.filter((label) => label !== 'le');
  if (record) known.set(record, Object.fromEntries(kept.map((label) => [label, null])));
}

for (const { record, alert, expr } of rules) {
  test(`${alert ?? record} only queries existing metrics`, () =>
    assert.deepEqual(complaintsAbout(expr, known), []));
}

const sections = headingsOf(readFileSync('ops/runbook.md', 'utf8'));

for (const { alert, labels, annotations } of alerts) {
  test(`${alert} has severity, summary, description and runbook`, () => {
    assert.match(labels?.['severity'] ?? '', /^(critical|warning|info)$/);
    assert.ok(annotations?.['summary'] && annotations['description']);
    const [page, anchor = ''] = annotations['runbook']!.split('#');
    assert.equal(page, 'ops/runbook.md');
    const section = sections.get(anchor);
    assert.ok(section && section.length > 100, `${anchor} is too short`);
  });
}

test('every alert has a test in which it fires and one in which it does not', () => {
  const trials: Trial[] = yaml('ops/prometheus/rules.test.yml').tests;
  const fires = (trial: Trial['alert_rule_test'][number]) => (trial.exp_alerts?.length ?? 0) > 0;
  const all = trials.flatMap(({ alert_rule_test }) => alert_rule_test);
  for (const { alert } of alerts) {
    const own = all.filter(({ alertname }) => alertname === alert);
    assert.deepEqual(own.map(fires).sort(), [false, true], alert);
  }
});

for (const { title, description, datasource, fieldConfig, targets } of shown) {
  test(`the panel "${title}" is labelled and only queries existing metrics`, () => {
    assert.ok(description, 'no description');
    assert.ok(fieldConfig?.defaults.unit, 'no unit');
    assert.equal(datasource?.uid, '$' + '{datasource}');
    assert.ok(targets && targets.length > 0, 'no query');
    for (const { expr } of targets) assert.deepEqual(complaintsAbout(expr, known), [], expr);
  });
}

test('the dashboard shows every metric', () => {
  const asked = shown.flatMap(({ targets = [] }) =>
    targets.flatMap(({ expr }) => readQuery(expr).selectors.map(({ metric }) => metric)),
  );
  for (const { name } of instruments) {
    assert.ok(
      asked.some((metric) => metric.replace(/_(bucket|count|sum)$/, '') === name),
      `${name} is on no panel`,
    );
  }
});
