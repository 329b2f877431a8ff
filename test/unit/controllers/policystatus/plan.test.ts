import { describe, expect, test } from 'vitest';
import type { BudgetsReport } from '../../../../src/api/report/budgets-report.ts';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import { rollUpNodes, type RemovalProgress } from '../../../../src/controllers/policystatus/nodes.ts';
import { planStatus, storedStatus, writeAfterMs } from '../../../../src/controllers/policystatus/plan.ts';
import type { PolicyStatus, StatusFacts } from '../../../../src/controllers/policystatus/status.ts';
import { openBreakersIn } from '../../../../src/gc/open-breaker.ts';
import { labelled, node, nodesRules, now, policy, terminatedRule } from '../../../builders.ts';
import { hostile, raw } from '../../../hostile.ts';
import { namespaceOf } from '../../commands/facts.ts';
import { budget } from '../budgets/builders.ts';
import {
  broken,
  conditions,
  nodesPolicy,
  passReport,
  removingPolicy,
  report as nodeReport,
} from './builders.ts';

const none: StatusFacts['obstacles'] = { missingRights: [], unknownRights: [], staleCaches: [] };

/** The status of an enforced policy of which nothing is stored or reported but this. */
const statusOf = (over: Partial<StatusFacts> = {}, at = now): PolicyStatus =>
  planStatus(
    {
      policy: policy(),
      stored: undefined,
      report: undefined,
      deletedSince: 0,
      obstacles: none,
      ...over,
    },
    at,
  );
const conditionOf = ({ conditions: all }: PolicyStatus, type: string) => all.find((one) => one.type === type);

const listJobs = { verb: 'list', group: 'batch', resource: 'jobs', values: ['rbac.jobs'] };
const dryRun = policy({ mode: 'DryRun' });
const ofNodes = nodesPolicy('default');
const noNodes = rollUpNodes([ofNodes], { nodes: [], reports: [] }, now).get('uid-default')?.counts;

describe('Accepted', () => {
  const selecting = { podSelector: labelled('app', 'x') };
  const misspelt = { nodes: 3, lists: [{ list: 'keep', patterns: ['ngnix', 'b', 'c', 'd'] }] };
  test.each<[name: string, facts: Partial<StatusFacts>, reason: string]>([
    ['selects some pods', { policy: policy({ pods: selecting }), report: passReport() }, 'Valid'],
    [
      'has deleted all pods that it selected',
      { policy: policy({ pods: selecting }), report: passReport({ governed: 0 }), deletedSince: 2 },
      'Valid',
    ],
    [
      'has selected no pod',
      { policy: policy({ pods: selecting }), report: passReport({ governed: 0 }) },
      'SelectsNothing',
    ],
    [
      'has selected no pod under another generation',
      { policy: policy({ pods: selecting }), report: passReport({ governed: 0, generation: 7 }) },
      'Valid',
    ],
    ['selects all of an empty cluster', { report: passReport({ governed: 0 }) }, 'Valid'],
    [
      'has an excluded namespace that does not exist, perhaps for other clusters',
      {
        policy: policy({ pods: { excludeNamespaces: new Set(['openshift-*']) } }),
        selectable: { nodes: [], namespaces: [namespaceOf('default')] },
      },
      'Valid',
    ],
    ['has patterns that match images', { unmatched: { nodes: 3, lists: [] } }, 'Valid'],
    ['has a pattern that matches no image', { unmatched: misspelt }, 'SelectsNothing'],
    [
      'has a reason that no pod can have',
      {
        policy: policy({
          pods: { terminated: terminatedRule({ ttlByReason: [{ reason: 'ExitCode:2', ttlMs: 1 }] }) },
        }),
      },
      'MatchesNothing',
    ],
    [
      'has a reason that is like a known one: another component may give it',
      {
        policy: policy({
          pods: { terminated: terminatedRule({ ttlByReason: [{ reason: 'evicted', ttlMs: 1 }] }) },
        }),
      },
      'Valid',
    ],
  ])('%s', (_, facts, reason) => {
    expect(conditionOf(statusOf(facts), 'Accepted')).toMatchObject({ status: 'True', reason });
  });
});

test('Accepted names the patterns that match no image', () => {
  const lists = [
    { list: 'keep', patterns: ['ngnix', 'b', 'c', 'd'] },
    { list: 'only', patterns: ['e'] },
  ];
  expect(conditionOf(statusOf({ unmatched: { nodes: 3, lists } }), 'Accepted')?.message).toBe(
    'The policy is valid; no image on 3 nodes matches "ngnix", "b", "c" and 1 more of nodes.imageGC.keep; no image on 3 nodes matches "e" of nodes.imageGC.only',
  );
});

describe('the conditions', () => {
  /** The conditions but Holding. */
  const allOf = (ready: string, accepted: string, enforcing: string, degraded: string): string[] => [
    ...[`Ready=${ready}`, `Accepted=${accepted}`, `Enforcing=${enforcing}`, `Degraded=${degraded}`],
  ];
  const degraded = (name: string, reason: string, over: Partial<PolicyPassReport>) => ({
    ...{ name, facts: { report: passReport(over) } },
    expected: allOf(`False ${reason}`, 'True Valid', 'True ModeEnforce', `True ${reason}`),
  });
  const invalid = 'False InvalidPolicy';

  test.each<{ readonly name: string; readonly facts: Partial<StatusFacts>; readonly expected: string[] }>([
    {
      name: 'enforcing, as planned',
      facts: { report: passReport() },
      expected: allOf('True AsPlanned', 'True Valid', 'True ModeEnforce', 'False AsPlanned'),
    },
    {
      name: 'DryRun',
      facts: { policy: dryRun, report: passReport({ deleted: 0 }) },
      expected: allOf('True AsPlanned', 'True Valid', 'False ModeDryRun', 'False AsPlanned'),
    },
    degraded('circuit breaker open', 'Tripped', { missingNodes: 4, trippedPercent: 40 }),
    degraded('failed deletions', 'DeletesFailed', { failed: 2 }),
    degraded('namespaces cannot be read', 'NotVerified', { deleted: 0, unverified: 2 }),
    degraded('clocks differ', 'ClockUnsure', { deleted: 0, clockUnsure: 2 }),
    {
      name: 'before the first pass of this generation',
      facts: { policy: policy({ generation: 2 }), report: passReport({ failed: 1 }) },
      expected: allOf('Unknown NoPassYet', 'True Valid', 'True ModeEnforce', 'Unknown NoPassYet'),
    },
    {
      name: 'circuit breaker open, and no pass can look again: the next controller must find it open',
      facts: {
        report: passReport({ missingNodes: 4, trippedPercent: 40 }),
        obstacles: { ...none, staleCaches: [{ resource: 'nodes', error: 'refused' }] },
      },
      expected: allOf('False Tripped', 'True Valid', 'True ModeEnforce', 'True Tripped'),
    },
    {
      name: 'a right that the values of the chart leave out',
      facts: { obstacles: { ...none, missingRights: [listJobs] } },
      expected: allOf('False MissingRights', 'True Valid', 'True ModeEnforce', 'True MissingRights'),
    },
    {
      name: 'a pass without a list that the policy needs',
      facts: { report: passReport({ unknownOwners: ['jobs'] }) },
      expected: allOf('Unknown NoPassYet', 'True Valid', 'True ModeEnforce', 'Unknown NoPassYet'),
    },
    {
      name: 'rights that no review has decided about, of a policy for nodes too',
      facts: { policy: ofNodes, nodes: noNodes, obstacles: { ...none, unknownRights: [listJobs] } },
      expected: allOf('Unknown NoPassYet', 'True Valid', 'True ModeEnforce', 'Unknown NoPassYet'),
    },
    {
      name: 'the same, and failed deletions',
      facts: { report: passReport({ failed: 1 }), obstacles: { ...none, unknownRights: [listJobs] } },
      expected: allOf('False DeletesFailed', 'True Valid', 'True ModeEnforce', 'True DeletesFailed'),
    },
    {
      name: 'before the first pass',
      facts: {},
      expected: allOf('Unknown NoPassYet', 'True Valid', 'True ModeEnforce', 'Unknown NoPassYet'),
    },
    {
      name: 'without rules, for which no pass is made',
      facts: { policy: policy({ pods: undefined }) },
      expected: allOf('True AsPlanned', 'True Valid', 'True ModeEnforce', 'False AsPlanned'),
    },
    {
      name: 'invalid',
      facts: { policy: broken },
      expected: allOf(invalid, invalid, invalid, 'Unknown NoPassYet'),
    },
  ])('$name', ({ facts, expected }) => {
    const status = statusOf(facts);
    expect(conditions(status).filter((one) => !one.startsWith('Holding='))).toEqual(expected);
    expect(status.observedGeneration).toBe((facts.policy ?? policy()).generation);
  });

  test.each([
    { right: listJobs, advice: 'Set rbac.jobs=true in the values of the chart, or remove from the policy' },
    { right: { verb: 'list', group: 'batch', resource: 'jobs' }, advice: 'not done$' },
  ])('a missing right is named, with the values that grant it', ({ right: missing, advice }) => {
    const { message } =
      conditionOf(statusOf({ obstacles: { ...none, missingRights: [missing] } }), 'Degraded') ?? {};
    expect(message).toMatch(new RegExp(`may not list jobs; .*${advice}`));
  });

  test('have a lastTransitionTime that changes only with the status', () => {
    const stored = statusOf({ report: passReport() });
    const second = statusOf({ stored, report: passReport({ failed: 1 }) }, new Date(now.getTime() + 60_000));
    const moved = second.conditions.filter((one) => one.lastTransitionTime === '2026-01-15T12:01:00Z');
    expect(moved.map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
  });
});

test.each([
  [1, '1 of 3 nodes is degraded; see their NodeGCReports'],
  [2, '2 of 3 nodes are degraded; see their NodeGCReports'],
])('%d degraded nodes are counted', (count, message) => {
  const names = ['node-1', 'node-2', 'node-3'];
  const reports = names.map((name, i) => nodeReport(name, { degraded: i < count }));
  const nodes = rollUpNodes([ofNodes], { nodes: names.map((name) => node(name)), reports }, now);
  const status = statusOf({ policy: ofNodes, nodes: nodes.get('uid-default')?.counts });
  expect(conditionOf(status, 'Degraded')?.message).toBe(message);
});

describe('before the first pass of a controller that has just started', () => {
  const open = statusOf({ report: passReport({ missingNodes: 5, trippedPercent: 50 }) });
  const observed = { nodes: [node('node-1')], reports: [nodeReport('node-1', { degraded: true })] };
  const nodes = rollUpNodes([ofNodes], observed, now).get('uid-default')?.counts;

  test('an open circuit breaker remains in the status, with its message', () => {
    const later = statusOf({ policy: policy({ generation: 9 }), stored: open, nodes });
    expect(conditions(later)).toEqual(conditions(open));
    expect(conditionOf(later, 'Degraded')?.message).toContain('Nodes missing, now or lost within an hour: 5');
    expect([...openBreakersIn([{ name: 'default', status: later }])]).toEqual([['default', 5]]);
  });

  test.each([
    { name: 'of a policy without rules for pods', of: ofNodes },
    { name: 'of an invalid policy', of: broken },
  ])('one $name does not', ({ of }) => {
    expect(conditionOf(statusOf({ policy: of, stored: open }), 'Degraded')?.reason).not.toBe('Tripped');
  });

  test('no other trouble does', () => {
    const failed = statusOf({ report: passReport({ failed: 1 }) });
    expect(conditions(statusOf({ stored: failed })).at(-1)).toContain('Unknown NoPassYet');
  });
});

describe('a hold', () => {
  const inForce = (rulesId: string, held?: { due: number }) => ({
    ...{ rulesId, since: now },
    held: held && { ...held, until: new Date(now.getTime() + 300_000) },
  });
  const nine = inForce('rules-default', { due: 9 });
  const holding = passReport({ hold: nine });

  test.each([
    { name: 'a deletion that waits', hold: nine, expected: 'True Holding' },
    { name: 'none that waits', hold: inForce('rules-default'), expected: 'False NothingHeld' },
    { name: 'a pass under other rules', hold: inForce('other', { due: 9 }), expected: 'Unknown NoPassYet' },
    { name: 'no pass yet', expected: 'Unknown NoPassYet' },
    { name: 'mode DryRun', of: dryRun, hold: nine, expected: 'False ModeDryRun' },
    { name: 'an invalid policy', of: broken, expected: 'False InvalidPolicy' },
    { name: 'nodes that hold', of: ofNodes, nodes: 2, expected: 'True NodesHolding' },
    { name: 'nodes that do not', of: ofNodes, nodes: 0, expected: 'False NothingHeld' },
    { name: 'nodes that are not known', of: ofNodes, expected: 'False NothingHeld' },
  ])('the condition Holding: $name', ({ of = policy(), hold, nodes, expected }) => {
    const rollup = noNodes && nodes !== undefined ? { ...noNodes, desired: 3, holding: nodes } : undefined;
    const status = statusOf({ policy: of, report: hold && passReport({ hold }), nodes: rollup });
    expect(conditions(status)).toContain(`Holding=${expected}`);
  });

  test('has its numbers, its end and both commands; they remain after a restart', () => {
    const first = statusOf({ report: holding });
    expect(first.hold).toEqual({
      ...{ rulesId: 'rules-default', since: '2026-01-15T12:00:00Z', due: 9, until: '2026-01-15T12:05:00Z' },
    });
    expect(conditionOf(first, 'Holding')?.message).toBe(
      'The rules of the policy are new and would delete 9 of the 10 pods that it governs; dustpan waits until 2026-01-15T12:05:00Z. ' +
        'To go on now: kubectl annotate gcpolicy default --overwrite gc.dustpan.dev/skip-hold=rules-default. ' +
        `To take it back: kubectl patch gcpolicy default --type=merge -p '{"spec":{"mode":"DryRun"}}'`,
    );
    // The column REASON shows it.
    expect(conditions(first)).toContain('Ready=True Holding');
    const restarted = statusOf({ stored: storedStatus(first) });
    expect(restarted.hold).toEqual(first.hold);
    expect(conditionOf(restarted, 'Holding')).toEqual(conditionOf(first, 'Holding'));
    const { observedGeneration, conditions: before, hold } = first;
    const uncounted = statusOf({ stored: { observedGeneration, conditions: before, hold } });
    expect(conditions(uncounted)).toContain('Holding=True Holding');
  });

  const named = (value: string): string =>
    `The annotation gc.dustpan.dev/skip-hold of the policy is ${value}, not the id of these rules, and ends no hold. To go on now: `;

  test.each<readonly [string, string | undefined, string | undefined]>([
    ['no annotation', undefined, undefined],
    ['the id of these rules, which old reports may follow', 'rules-default', undefined],
    ['the id of other rules', '0123456789ab', named('"0123456789ab"')],
    ['a text that is no id', 'yes\n\u009b', named('"yes\\n\\u009b"')],
  ])('says how to end it, and names an annotation that does not: %s', (_, skipHoldOf, expected) => {
    const ofPods = statusOf({ policy: policy({ skipHoldOf }), report: holding });
    const nodes = noNodes && { ...noNodes, desired: 3, holding: 2 };
    const onNodes = statusOf({ policy: { ...ofNodes, skipHoldOf }, nodes });
    for (const status of [ofPods, onNodes]) {
      const message = conditionOf(status, 'Holding')?.message ?? '';
      expect(/The annotation .* To go on now: /.exec(message)?.[0]).toBe(expected);
      expect(message).toContain(' gc.dustpan.dev/skip-hold=rules-');
    }
  });

  test('that ends, and mode DryRun, leave out the stored values', () => {
    const stored = statusOf({ report: holding });
    const over = statusOf({ stored, report: passReport({ hold: inForce('rules-default') }) });
    expect(Object.keys(over.hold ?? {})).toEqual(['rulesId', 'since']);
    expect(statusOf({ policy: dryRun, report: passReport(), stored })).not.toHaveProperty('hold');
  });
});

describe('the condition BudgetsExceeded', () => {
  const namespaceBudgets = [budget({ perNode: 20 })];
  const withBudgets = policy({ pods: undefined, nodes: nodesRules({ namespaceBudgets }) });
  const budgets: BudgetsReport = { status: 'True', reason: 'NamespaceOverBudget', message: 'team-a' };
  const stored = statusOf({ policy: withBudgets, budgets });
  const exceeded = ['BudgetsExceeded=True NamespaceOverBudget'];

  test.each<{ readonly name: string; readonly facts: Partial<StatusFacts>; readonly expected: string[] }>([
    { name: 'the last pass', facts: { budgets }, expected: exceeded },
    { name: 'no pass yet', facts: {}, expected: ['BudgetsExceeded=Unknown NotCompared'] },
    { name: 'no pass of this controller: as it was', facts: { stored }, expected: exceeded },
    {
      name: 'a policy without budgets, which had some',
      facts: { policy: policy({ nodes: nodesRules() }), stored },
      expected: [],
    },
    { name: 'an invalid policy', facts: { policy: broken, budgets }, expected: [] },
  ])('$name', ({ facts, expected }) => {
    const made = conditions(statusOf({ policy: withBudgets, ...facts }));
    expect(made.filter((one) => one.startsWith('BudgetsExceeded'))).toEqual(expected);
  });

  test.each<{ readonly name: string; readonly over: Partial<BudgetsReport>; readonly afterMs?: number }>([
    { name: 'another status at once', over: { status: 'False' }, afterMs: 0 },
    { name: 'another reason after 30 s', over: { reason: 'Other' }, afterMs: 30_000 },
    { name: 'another message, which has sizes, after 5 min', over: { message: 'team-b' }, afterMs: 300_000 },
    { name: 'nothing if nothing changed', over: {} },
  ])('is written: $name', ({ over, afterMs }) => {
    const next = statusOf({ policy: withBudgets, budgets: { ...budgets, ...over } });
    expect(writeAfterMs(next, stored)).toBe(afterMs);
  });
});

describe('the condition ImagesRemoved', () => {
  const removing = removingPolicy('default', ['a', 'b', 'c']);
  const one = (image: string, over: Partial<RemovalProgress> = {}): RemovalProgress => ({
    ...{ image, matched: true, nodes: 40, gone: 40, inUse: 0, kept: 0, untagged: 0, unknown: 0 },
    ...over,
  });
  const used = one('b', { gone: 28, inUse: 9, kept: 2, unknown: 3 });
  const removals = [one('a'), used];
  const stored = statusOf({ policy: removing, removals });
  const never = one('c', { matched: false });
  const once = { ...stored, removeMatched: ['c'] };
  const uncertain = one('b', { gone: 39, unknown: 1 });

  const cases: readonly (readonly [name: string, expected: string, facts: Partial<StatusFacts>])[] = [
    ['gone from all nodes', 'True Removed', { removals: [one('a')] }],
    ['one entry that never matched', 'Unknown NothingMatched', { removals: [never, one('a')] }],
    ['the same, which matched before', 'True Removed', { removals: [never, one('a')], stored: once }],
    ['left on some, and one that never matched', 'False ImagesLeft', { removals: [never, used] }],
    ['left on some', 'False ImagesLeft', { removals }],
    ['no node', 'False ImagesLeft', { removals: [one('a', { nodes: 0, gone: 0 })] }],
    ['gone from the nodes that report', 'Unknown NodesNotReported', { removals: [one('a'), uncertain] }],
    [
      'left on a node, and another does not report',
      'False ImagesLeft',
      { removals: [uncertain, one('a', { gone: 38, inUse: 1, unknown: 1 })] },
    ],
    [
      'perhaps left without a tag',
      'Unknown TagsUnknown',
      { removals: [uncertain, one('a', { gone: 38, untagged: 1, unknown: 1 })] },
    ],
    ['DryRun', 'False ModeDryRun', { policy: { ...removing, mode: 'DryRun' }, removals }],
    ['all entries ended', 'Unknown Ended', { removals: [] }],
    ['the reports are not known', 'Unknown NoReportYet', {}],
    [
      'the same, and another generation is stored',
      'Unknown NoReportYet',
      { stored: { ...stored, observedGeneration: 0 } },
    ],
    ['the same, after a restart', 'False ImagesLeft', { stored }],
  ];
  const made = (facts: Partial<StatusFacts>) =>
    conditionOf(statusOf({ policy: removing, ...facts }), 'ImagesRemoved');

  test.each(cases)('%s', (_, expected, facts) => {
    expect(`${made(facts)?.status} ${made(facts)?.reason}`).toBe(expected);
  });

  test('has the messages of the file', async () => {
    const texts = cases.map(([name, , facts]) => `${name}: ${made(facts)?.message}\n`);
    await expect(texts.join('')).toMatchFileSnapshot('./__snapshots__/images-removed.txt');
  });

  test.each<[name: string, facts: Partial<StatusFacts>, expected?: string[]]>([
    ['of an entry that matches now', { removals: [one('a'), never] }, ['a']],
    ['of one that matched before', { removals: [never], stored: once }, ['c']],
    ['while the reports are not known', { stored: once }, ['c']],
    [
      'not of an entry that the policy no longer has',
      { policy: removingPolicy('default', ['a']), stored: once },
    ],
    ['of none', { removals: [never] }],
  ])('removeMatched is the memory %s', (_, facts, expected) => {
    const made = statusOf({ policy: removing, ...facts });
    expect(made.removeMatched).toEqual(expected);
    expect(storedStatus(made)?.removeMatched).toEqual(expected);
  });

  test('Accepted names an entry that never matched, until one does', () => {
    const accepted = (removals: readonly RemovalProgress[]) =>
      conditionOf(statusOf({ policy: removing, removals }), 'Accepted');
    expect(accepted([one('a'), never])).toMatchObject({
      reason: 'SelectsNothing',
      message:
        'The policy is valid; no image on 40 nodes matches "c" of nodes.imageGC.remove, and no removal for it is known',
    });
    expect(accepted([never, one('a', { matched: false })])?.message).toContain(
      'matches "c", "a" of nodes.imageGC.remove, and no removal for them is known',
    );
    for (const matching of [one('c'), one('c', { matched: false, gone: 39, untagged: 1 })])
      expect(accepted([matching])?.reason).toBe('Valid');
  });

  test('a new match is written at once', () => {
    const removals = [never, used];
    const before = statusOf({ policy: removing, removals });
    const after = statusOf({ policy: removing, removals: [one('c'), used], stored: before });
    expect(writeAfterMs(after, before)).toBe(0);
  });

  test.each([
    { name: 'entries', of: ofNodes },
    { name: 'rules for images', of: policy({ nodes: nodesRules() }) },
    { name: 'a valid spec', of: broken },
  ])('is absent without $name', ({ of }) => {
    expect(conditionOf(statusOf({ policy: of, stored, removals: [] }), 'ImagesRemoved')).toBeUndefined();
  });
});

describe('a stored status', () => {
  const condition = {
    ...{ type: 'Ready', status: 'True', reason: 'AsPlanned', message: 'The agent applies the policy' },
    ...{ lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 },
  };
  const pods = {
    ...{ governed: 3, terminated: 2, due: 1, waiting: 0, held: 0, missingNodes: 0 },
    ...{ errorsLastPass: 0, deletedTotal: 7 },
  };
  const bare = { observedGeneration: 1, lastPassTime: '2026-01-01T00:00:00Z', pods, nodes: noNodes };
  const stored = { ...bare, conditions: [condition] };

  test.each<{ readonly name: string; readonly given: unknown; readonly read: unknown }>([
    { name: 'a status that we wrote', given: stored, read: stored },
    ...[undefined, { observedGeneration: 'one' }].map((given) => ({
      ...{ name: `nothing from ${JSON.stringify(given)}`, given, read: undefined },
    })),
    { name: 'a status without conditions', given: bare, read: { ...bare, conditions: [] } },
    {
      name: 'only what the CRD allows',
      given: { ...stored, lastPassTime: 7, conditions: [condition, null, { ...condition, status: true }] },
      read: { ...stored, lastPassTime: undefined },
    },
  ])('is read: $name', ({ given, read }) => {
    expect(storedStatus(given)).toEqual(read);
  });

  test.each([
    ['a minute later', '2026-01-01T00:01:00Z', '2026-01-01T00:00:00Z', undefined],
    ['five minutes later', '2026-01-01T00:05:00Z', '2026-01-01T00:00:00Z', 300_000],
    ['the first one', '2026-01-01T00:00:00Z', undefined, 300_000],
    ['the stored one is no time', '2026-01-01T00:00:00Z', 'never', 300_000],
    ['none since the start', undefined, '2026-01-01T00:00:00Z', undefined],
  ])('the time of the last pass is written: %s', (_, planned, last, afterMs) => {
    const at = (lastPassTime: string | undefined): PolicyStatus => ({
      observedGeneration: 1,
      conditions: [],
      ...(lastPassTime !== undefined && { lastPassTime }),
    });
    expect(writeAfterMs(at(planned), at(last))).toBe(afterMs);
  });

  test('has the values of the last pass, which remain until the first pass after a restart', () => {
    const restarted = statusOf({ policy: dryRun, stored: storedStatus(stored) });
    expect(restarted).toMatchObject({ lastPassTime: '2026-01-01T00:00:00Z', pods });
    const first = statusOf({ policy: dryRun });
    expect(first).not.toHaveProperty('lastPassTime');
    expect(first).not.toHaveProperty('pods');
    expect(conditionOf(first, 'Enforcing')?.message).toBe('Mode DryRun: dustpan removes nothing');
  });
});

test('sums over nodes stay within the bounds of the schema', () => {
  const huge = { imagesRemovable: 2 ** 31, imageBytesRemovable: Number.MAX_SAFE_INTEGER };
  const observed = { nodes: [node('a'), node('b')], reports: [nodeReport('a', huge), nodeReport('b', huge)] };
  const nodes = rollUpNodes([ofNodes], observed, now).get('uid-default')?.counts;
  expect(statusOf({ policy: ofNodes, nodes }).nodes).toMatchObject({
    imagesRemovable: 2 ** 31 - 1,
    imageBytesReclaimable: Number.MAX_SAFE_INTEGER,
  });
});

test('a status is small when a policy has 5 MB of problems: every agent watches it', () => {
  const problems = Array.from({ length: 50_000 }, (_, i) => `${i}: `.padEnd(100, 'x'));
  const status = statusOf({ policy: { ...broken, problems } });
  expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(8 * 1024);
});

test('control characters in the name of a field are escaped', () => {
  const status = statusOf({ policy: { ...broken, problems: [`spec.${hostile}: unknown field`] } });
  const accepted = conditionOf(status, 'Accepted')?.message ?? '';
  expect(accepted).toContain(String.raw`spec.a\u001b[2Jb\nERROR forged\u009b2J`);
  expect(accepted).not.toMatch(raw);
});

test('entries of ttlByReason that can match no pod, or probably match none, are named with the spelling that works', () => {
  const ttlByReason = ['Init:Error', 'OutOf*', 'Evicted,Shutdown', 'evicted', 'CrashLoopBackOff'].map(
    (reason) => ({ reason, ttlMs: 1 }),
  );
  const status = statusOf({ policy: policy({ pods: { terminated: terminatedRule({ ttlByReason }) } }) });
  expect(conditionOf(status, 'Accepted')).toMatchObject({
    status: 'True',
    message:
      'The policy is valid; pods.terminated.ttlByReason[0].reason "Init:Error" matches no pod: write "Error": kubectl adds the prefix to the reason of an init container; pods.terminated.ttlByReason[2].reason "Evicted,Shutdown" matches no pod: write one entry for each reason: Evicted and Shutdown; pods.terminated.ttlByReason[3].reason "evicted" probably matches no pod: did you mean Evicted?; pods.terminated.ttlByReason[4].reason "CrashLoopBackOff" probably matches no pod: only a waiting container has this reason',
  });
});
