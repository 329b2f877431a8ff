import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { controllerRights, rightText, type Right } from '../../../../src/api/policy/needs.ts';
import type { StaleCache } from '../../../../src/kube/cache/staleness.ts';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { PolicyStatusController } from '../../../../src/controllers/policystatus/controller.ts';
import { policyStatusMetrics } from '../../../../src/controllers/policystatus/metrics.ts';
import { storedStatus } from '../../../../src/controllers/policystatus/plan.ts';
import type { PolicyStatus } from '../../../../src/controllers/policystatus/status.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import type { NamespaceFacts, NodeFacts } from '../../../../src/kube/cache/objects.ts';
import { metaTime } from '../../../../src/runtime/text/rfc3339.ts';
import {
  defaultsOf,
  labelled,
  minutesAgo,
  node,
  nodesRules,
  now,
  policy,
  terminatedRule,
} from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { namespaceOf } from '../../commands/facts.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { broken, conditions, nodesPolicy, passReport, report as nodeReport } from './builders.ts';

/** The controller, the server that stores the statuses, and its caches. */
class Environment {
  readonly written: PolicyStatus[] = [];
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly registry = new Registry();
  readonly nodes = { items: new Map<string, NodeFacts>(), synced: true };
  readonly namespaces = { items: new Map<string, NamespaceFacts>(), synced: true };
  readonly reports = { items: new Map<string, NodeReportFacts>(), synced: true };
  ranked: readonly (Policy | InvalidPolicy)[];
  stored: PolicyStatus | undefined;
  fails = false;
  leads = true;
  stale: readonly StaleCache[] = [];
  readonly rights: { missing: readonly Right[]; isKnown: (right: Right) => boolean } = {
    missing: [],
    isKnown: () => true,
  };
  duringWrite: () => void = () => undefined;
  readonly controller: PolicyStatusController;

  constructor(...ranked: readonly (Policy | InvalidPolicy)[]) {
    this.ranked = ranked.length > 0 ? ranked : [policy()];
    const rankedNow = () => this.ranked;
    this.controller = new PolicyStatusController({
      policySet: {
        get ranked() {
          return rankedNow();
        },
        storedStatus: () => this.stored,
      },
      nodes: this.nodes,
      namespaces: this.namespaces,
      nodeReports: this.reports,
      writeStatus: (_policy, status) => {
        this.duringWrite();
        if (this.fails) return Promise.reject(new Error('server down'));
        this.written.push(status);
        this.stored = status;
        return Promise.resolve();
      },
      staleCaches: () => this.stale,
      rights: this.rights,
      holdsLease: () => this.leads,
      recorder: this.recorder,
      clock: this.clock,
      log: silentLogger,
      metrics: policyStatusMetrics(this.registry),
    });
  }

  /** Reports a pass of podgc; the next reconciliation writes it. */
  observe(over: Partial<PolicyPassReport> = {}): void {
    this.controller.observe(new Map([['uid-default', passReport(over)]]));
  }

  reconcile(signal = new AbortController().signal): Promise<void> {
    return this.controller.reconcile(signal);
  }

  /** Writes the status after a pass that deleted so many pods, 30 s after the one before. */
  async pass(deleted: number): Promise<void> {
    this.observe({ deleted });
    this.clock.advance(30_000);
    await this.reconcile();
  }

  get totals(): readonly (number | undefined)[] {
    return this.written.map(({ pods }) => pods?.deletedTotal);
  }
}

test('new rules in force are written at once, also without a new generation', async () => {
  const env = new Environment();
  for (const rulesId of ['a', 'b']) {
    env.ranked = [policy({ rulesId })];
    await env.reconcile();
    env.observe({ hold: { rulesId, since: now, held: undefined } });
    await env.reconcile();
  }
  expect(env.written.map(({ hold }) => hold?.rulesId)).toEqual([undefined, 'a', 'a', 'b']);
});

test('a quiet cluster gets exactly one write in five minutes, which shows the last pass', async () => {
  const env = new Environment();
  // Passes of podgc every 20 s, for a quarter of an hour.
  for (let i = 0; i <= 45; i++) {
    env.observe({ deleted: 0, due: 0, at: env.clock.now() });
    for (let j = 0; j < 2; j++) {
      await env.reconcile();
      env.clock.advance(10_000);
    }
  }
  expect(env.written.map(({ lastPassTime }) => lastPassTime)).toEqual(
    [0, 5, 10, 15].map((minutes) => metaTime(new Date(now.getTime() + minutes * 60_000))),
  );
});

test('without passes nothing is written, and the time of the last one stays', async () => {
  const env = new Environment();
  env.observe({ deleted: 0, at: env.clock.now() });
  for (let i = 0; i < 100; i++) {
    await env.reconcile();
    env.clock.advance(20_000);
  }
  expect(env.written).toHaveLength(1);
});

test('counts are written at most every 30 s, a condition that changes at once', async () => {
  const env = new Environment();
  for (const governed of [10, 11, 12]) {
    env.observe({ deleted: 0, governed });
    await env.reconcile();
    env.clock.advance(10_000);
  }
  expect(env.written).toHaveLength(1);
  env.observe({ deleted: 0, failed: 1 });
  await env.reconcile();
  expect(env.written).toHaveLength(2);
});

test('at the end all counts are written, however recent the last write is; without the lease none', async () => {
  const env = new Environment();
  await env.pass(10);
  for (const deleted of [20, 3]) env.observe({ deleted });
  await env.reconcile();
  expect(env.totals).toEqual([10]);
  env.leads = false;
  await env.controller.flush(new AbortController().signal);
  expect(env.totals).toEqual([10]);
  env.leads = true;
  await env.controller.flush(new AbortController().signal);
  await env.controller.flush(new AbortController().signal);
  expect(env.totals).toEqual([10, 33]);
});

test('a failed write is repeated although nothing changes', async () => {
  const env = new Environment();
  env.fails = true;
  await env.pass(0);
  env.fails = false;
  env.clock.advance(30_000);
  await env.reconcile();
  expect(env.written).toHaveLength(1);
});

test('deletions add up over passes, a failed write, an old cache and a restart', async () => {
  const env = new Environment();
  await env.pass(3);
  env.fails = true;
  await env.pass(4);
  env.fails = false;
  await env.pass(5);
  expect(env.totals).toEqual([3, 12]);
  // The cache does not show the last write yet.
  [env.stored] = env.written;
  await env.pass(0);
  await env.pass(1);
  expect(env.totals.at(-1)).toBe(13);
  const restarted = new Environment();
  restarted.stored = env.stored;
  await restarted.pass(1);
  expect(restarted.totals).toEqual([14]);
});

test('deletions of a pass during a write are in the next', async () => {
  const env = new Environment();
  env.duringWrite = () => {
    env.observe({ deleted: 5 });
    env.duringWrite = () => undefined;
  };
  await env.pass(3);
  await env.pass(0);
  expect(env.totals).toEqual([3, 8]);
});

test.each([
  { name: 'once', passes: [[broken], [broken]], reported: 1 },
  { name: 'again under another generation', passes: [[broken], [{ ...broken, generation: 4 }]], reported: 2 },
  { name: 'again after it was deleted', passes: [[broken], [], [broken]], reported: 2 },
])('an invalid policy is reported $name', async ({ passes, reported }) => {
  const env = new Environment();
  for (const ranked of passes) {
    env.ranked = ranked;
    await env.reconcile();
  }
  expect(env.recorder.reasons).toEqual(Array(reported).fill('InvalidPolicy GCPolicy/broken'));
});

/** A policy for nodes alone, and the two nodes that it governs. */
function withNodes(): Environment {
  const env = new Environment(nodesPolicy('default'));
  for (const name of ['a', 'b']) env.nodes.items.set(name, node(name));
  env.reports.items.set('a', nodeReport('a'));
  return env;
}

test('the reports of nodes decide about a policy for nodes alone', async () => {
  const env = withNodes();
  env.reports.items.clear();
  await env.reconcile();
  expect(env.written.flatMap(conditions)).toContain('Degraded=Unknown NoReportYet');
  env.reports.items.set('a', nodeReport('a'));
  await env.reconcile();
  expect(env.written.flatMap(conditions)).toContain('Degraded=False AsPlanned');
  env.reports.items.set('a', nodeReport('a', { degraded: true }));
  env.clock.advance(1_000);
  await env.reconcile();
  expect(env.written.flatMap(conditions)).toContain('Degraded=True NodesDegraded');
});

test('sums over nodes are written every 5 min, numbers of nodes every 30 s', async () => {
  const env = withNodes();
  for (let i = 0; i < 10; i++) {
    env.reports.items.set('a', nodeReport('a', { imagesRemovable: i }));
    await env.reconcile();
    env.clock.advance(30_000);
  }
  expect(env.written.map(({ nodes }) => nodes?.imagesRemovable)).toEqual([0]);
  await env.reconcile();
  expect(env.written.map(({ nodes }) => nodes?.imagesRemovable)).toEqual([0, 9]);
  env.reports.items.set('b', nodeReport('b', { reportedAtMs: env.clock.now().getTime() }));
  await env.reconcile();
  expect(env.written).toHaveLength(2);
  env.clock.advance(30_000);
  await env.reconcile();
  expect(env.written.at(-1)?.nodes).toMatchObject({ desired: 2, upToDate: 2 });
});

test.each(['nodes', 'reports'] as const)(
  'the stored sums remain while the %s are not known',
  async (missing) => {
    const env = withNodes();
    await env.reconcile();
    env[missing].synced = false;
    env[missing].items.clear();
    env.clock.advance(600_000);
    await env.reconcile();
    expect(env.stored?.nodes).toMatchObject({ desired: 2, upToDate: 1 });
  },
);

test('the stored sums are deleted with the rules for nodes', async () => {
  const env = withNodes();
  await env.reconcile();
  env.ranked = [policy({ generation: 2 })];
  env.clock.advance(600_000);
  await env.reconcile();
  expect(env.stored).not.toHaveProperty('nodes');
  env.stored = storedStatus(env.stored);
  env.clock.advance(600_000);
  await env.reconcile();
  expect(env.written).toHaveLength(2);
});

test('metrics have the conditions of the policies that exist now, whether the status was written or not', async () => {
  const env = new Environment(broken);
  env.fails = true;
  const series = async (): Promise<string> => {
    const lines = (await env.registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith('dustpan_policy_condition{')).join('\n');
  };
  await env.reconcile();
  expect((await series()).split('\n')).toEqual([
    'dustpan_policy_condition{policy="broken",type="Ready",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Accepted",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Enforcing",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Holding",status="False"} 1',
    'dustpan_policy_condition{policy="broken",type="Degraded",status="Unknown"} 1',
  ]);
  env.ranked = [policy()];
  await env.reconcile();
  expect(await series()).toContain('{policy="default",type="Accepted",status="True"} 1');
  expect(await series()).not.toContain('broken');
});

describe('what keeps the controller from working', () => {
  const stale = (resource: string): StaleCache => ({ resource, sinceMs: 0, error: '429 too many requests' });
  const list = (resource: string): Right => ({ verb: 'list', group: '', resource });
  const forJobs = policy({ pods: { terminated: terminatedRule({ protectUnfinishedJobs: true }) } });
  const pinning = policy({ nodes: nodesRules({ imageGC: imageRule({ pinWanted: true }) }) });

  test.each<{
    name: string;
    policy?: Policy;
    stale?: string[];
    missing?: string[];
    unknown?: string[];
    expected: string;
  }>([
    { name: 'a stale list that the policy needs', stale: ['pods'], expected: 'True CacheStale' },
    { name: 'policies that are not current', stale: ['gcpolicies'], expected: 'True CacheStale' },
    { name: 'a stale list that another policy needs', stale: ['jobs'], expected: 'False AsPlanned' },
    { name: 'Jobs that are not listed', policy: forJobs, stale: ['jobs'], expected: 'True CacheStale' },
    {
      name: 'a right that the policy needs',
      policy: forJobs,
      missing: ['jobs'],
      expected: 'True MissingRights',
    },
    { name: 'a right that another policy needs', missing: ['jobs'], expected: 'False AsPlanned' },
    { name: 'both', stale: ['pods'], missing: ['pods'], expected: 'True MissingRights' },
    {
      name: 'reports of nodes, without rules for nodes',
      stale: ['nodegcreports'],
      expected: 'False AsPlanned',
    },
    {
      name: 'a right that no review has decided about',
      unknown: ['delete pods'],
      expected: 'Unknown NoPassYet',
    },
    { name: 'the same of another policy', unknown: ['list jobs'], expected: 'False AsPlanned' },
  ])(
    '$name: $expected',
    async ({ policy: given = policy(), stale: names = [], missing = [], unknown = [], expected }) => {
      const made = new Environment(given);
      made.observe();
      made.stale = names.map(stale);
      made.rights.missing = missing.map(list);
      made.rights.isKnown = (right) => !unknown.includes(rightText(right));
      await made.controller.reconcile(new AbortController().signal);
      const degraded = made.written.at(-1)?.conditions.find(({ type }) => type === 'Degraded');
      expect(`${degraded?.status} ${degraded?.reason}`).toBe(expected);
      for (const name of [...names, ...missing])
        if (degraded?.status === 'True') expect(degraded.message).toContain(name);
    },
  );

  test.each([
    { value: 'rbac.wantedImages', given: pinning },
    { value: 'rbac.jobs', given: forJobs },
  ])('a right that two policies need is granted by $value for one of them', async ({ value, given }) => {
    const made = new Environment(given);
    made.rights.missing = controllerRights([pinning, forJobs]).filter(({ resource }) => resource === 'jobs');
    await made.controller.reconcile(new AbortController().signal);
    const degraded = made.written.at(-1)?.conditions.find(({ type }) => type === 'Degraded');
    expect(degraded?.message).toContain(`. Set ${value}=true in`);
  });
});

test('Accepted says that selectors and excluded names match nothing, while the caches are current', async () => {
  const rules = { namespaceSelector: labelled('team', 'x'), excludeNamespaces: new Set(['kube-sistem']) };
  const env = new Environment(
    policy({ pods: rules, nodes: nodesRules({ nodeSelector: labelled('a', 'b') }) }),
  );
  env.nodes.items.set('1', node('node-1'));
  env.namespaces.items.set('1', namespaceOf('kube-system'));
  const accepted = () => env.written.at(-1)?.conditions.find(({ type }) => type === 'Accepted');
  await env.reconcile();
  expect(accepted()).toMatchObject({
    status: 'True',
    reason: 'SelectsNothing',
    message:
      'The policy is valid; nodes.nodeSelector selects no node now; pods.namespaceSelector selects no namespace now; no namespace matches "kube-sistem" of pods.excludeNamespaces',
  });
  env.nodes.synced = false;
  env.namespaces.synced = false;
  env.clock.advance(30_000);
  await env.reconcile();
  expect(accepted()).toMatchObject({ reason: 'Valid', message: 'The policy is valid' });
});

test('one pass counts the reports of the nodes for the sums, for the remove list and for the patterns', async () => {
  const remove = [{ image: 'a', untilMs: minutesAgo(-1) }];
  const imageGC = { ...defaultsOf('imageGC'), remove, keep: ['b'] };
  const env = new Environment(policy({ pods: undefined, nodes: nodesRules({ imageGC }) }));
  env.nodes.items.set('1', node('node-1'));
  env.reports.items.set(
    '1',
    nodeReport('node-1', {
      removeList: [{ image: 'a', matched: true, inUse: 1, kept: 0, untagged: 0 }],
      unmatched: { keep: [0], only: [], maximumAgeByImage: [] },
    }),
  );
  await env.reconcile();
  const [status] = env.written;
  expect(status?.nodes?.desired).toBe(1);
  const messages = status?.conditions.map(({ message }) => message).join('\n');
  expect(messages).toContain('gone from 0 of 1 node, in use on 1');
  expect(messages).toContain('no image on 1 node matches "b"');
});
