// @bed prometheus
import { beforeAll, expect, test } from 'vitest';
import type { StatusView } from '../../../src/commands/status/view.ts';
import { startPrometheus, type Prometheus } from '../prometheus/prometheus.ts';
import type { Cluster } from '../servers/cluster.ts';
import { resultOfDustpan } from '../servers/command.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { kubectl } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';
import { dustpanUser, shortPeriod, startControlPlane, startController } from './dustpan.ts';
import { applyPolicy } from './environment.ts';

/** What a controller that runs reports when it loses a right, and then the API server. */
let cluster: Cluster;
let controller: DustpanProcess;
let prometheus: Prometheus;

beforeAll(async () => {
  cluster = await startControlPlane();
  await changePolicy();
  const lease = ['--leader-elect=true', '--leader-elect-resource-namespace=default'];
  controller = await startController(cluster, { args: [...lease, ...shortPeriod] });
  const { host } = new URL(controller.metricsUrl);
  prometheus = await startPrometheus(cluster, { targets: { 'dustpan-controller': host } });
});

async function condition(type: string): Promise<string> {
  const path = `{.items[0].status.conditions[?(@.type=="${type}")]['status','reason']}`;
  return await kubectl(cluster, ['get', 'gcpolicies', `-o=jsonpath=${path}`]);
}

async function troubles(): Promise<readonly string[]> {
  const connection = `--kubeconfig=${cluster.kubeconfig('admin')}`;
  const { stdout } = await resultOfDustpan('status', '-o', 'json', connection);
  return (JSON.parse(stdout) as StatusView).trouble.map(({ reason }) => reason);
}

/** The alerts of the chart that fire, of these labels. */
const firing = async (labels: string): Promise<number> =>
  (await prometheus.query(`ALERTS{alertname="DustpanControllerDown",alertstate="firing",${labels}}`)).length;

/** Replaces the rules of the controller's user. */
async function grant(isMissing: (resource: string) => boolean): Promise<void> {
  const rules = (dustpanUser.rules ?? []).map((rule) => {
    const resources = rule.resources?.filter((resource) => !isMissing(resource));
    return { ...rule, resources };
  });
  const kept = rules.filter(({ resources }) => resources === undefined || resources.length > 0);
  const patch = JSON.stringify({ rules: kept });
  await kubectl(cluster, [
    'patch',
    'clusterrole',
    `bed:${dustpanUser.name}`,
    '--type=merge',
    `--patch=${patch}`,
  ]);
}

let hours = 0;

async function changePolicy(): Promise<void> {
  hours += 1;
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: `${hours}h`, protectUnfinishedJobs: true } });
}

const works = async (): Promise<void> => {
  await waitUntil('the policy is Ready', async () => (await condition('Ready')) === 'True AsPlanned');
  await controller.ready();
};

test.each([
  { lost: 'pods', alerts: 1, probe: 500 },
  // A value of the chart may leave it out.
  { lost: 'jobs', alerts: 0, probe: 200 },
])(
  'the right to list $lost is taken away: condition and status show it within three minutes, readiness and the default alert only if the controller does not work without',
  async ({ lost, alerts, probe }) => {
    await works();
    await grant((resource) => resource === lost);
    const takenAt = Date.now();
    // The watch goes on, so that no request is refused: a changed policy is reviewed before the five minutes have passed.
    await changePolicy();
    const right = `verb="list",resource="${lost}"`;
    await waitUntil(
      'the policy shows it',
      async () => (await condition('Degraded')) === 'True MissingRights',
    );
    expect((await controller.metrics()).has(`dustpan_missing_rights{${right}}`)).toBe(true);
    expect(await condition('Ready')).toBe('False MissingRights');
    expect(await troubles()).toContain('MissingRights');
    expect(await controller.probe('/readyz')).toBe(probe);
    await waitUntil('the alert fires', async () => (await firing(right)) === alerts);
    // A Prometheus that scrapes and evaluates every 30 s needs a minute more than this one.
    expect(Date.now() - takenAt).toBeLessThan(120_000);
    await grant(() => false);
    await works();
    await waitUntil('no alert fires', async () => (await firing('job="dustpan-controller"')) === 0);
  },
);

test('while the API server is away the controller runs, is not ready, and then works again', async () => {
  await works();
  await cluster.kill('api');
  await waitUntil('it is not ready', async () => (await controller.probe('/readyz')) === 500);
  expect(await controller.probe('/healthz')).toBe(200);
  await waitUntil('it waits without the lease', async () =>
    (await controller.logTail(400)).includes('"outcome":"away"'),
  );
  expect(controller.isRunning).toBe(true);
  await cluster.start('api');
  await works();
  expect(controller.isRunning).toBe(true);
});
