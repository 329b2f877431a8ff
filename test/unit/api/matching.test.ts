import { ttlRuleKey } from '../../../src/api/policy/ttl-rules.ts';
import { describe, expect, test } from 'vitest';
import {
  hasKeepLabel,
  KEEP_LABEL,
  nodeMatcher,
  CONTAINER_ENDS,
  neededOwners,
  podLabelKeys,
  podMatcher,
  rankPolicies,
  shadowedBy,
  unselectedBy,
} from '../../../src/api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../../src/api/policy/policy.ts';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';

type Spec = Readonly<Record<string, unknown>>;

const policy = (name: string, spec: Spec = { pods: {} }): Policy | InvalidPolicy =>
  parsePolicy({ metadata: { name }, spec });
const app = (value: string): Spec => ({ matchLabels: { app: value } });
const broken = { pods: { podSelector: 'app=x' } };

const names = (policies: readonly (Policy | InvalidPolicy)[]): readonly string[] =>
  policies.map(({ name }) => name);

describe('rankPolicies', () => {
  test('ranks by priority, the highest first, then by name', () => {
    const policies = [
      policy('b'),
      policy('low', { priority: -1 }),
      policy('a'),
      policy('B'),
      policy('high', { priority: 2 }),
      policy('highest', { priority: 10 }),
      // No server stores two of one name, but a snapshot may.
      policy('a', { mode: 'Enforce' }),
    ];
    expect(names(rankPolicies(policies))).toEqual(['highest', 'high', 'B', 'a', 'a', 'b', 'low']);
  });

  test('ranks an invalid policy by its priority; an unreadable priority is the highest', () => {
    const policies = [
      policy('a', { priority: 1_000_000_000 }),
      policy('z', { priority: 'x' }),
      policy('c', { ...broken, priority: 5 }),
      policy('y', { priority: 'x' }),
      policy('b', { priority: 6 }),
    ];
    expect(names(rankPolicies(policies))).toEqual(['y', 'z', 'a', 'b', 'c']);
  });
});

describe('podMatcher', () => {
  const namespaces = new Map([
    ['dev', { stage: 'dev' }],
    ['prod', { stage: 'prod' }],
  ]);
  const [a, b] = [policy('a'), policy('b')];
  const first = policy('b', { pods: {}, priority: 1 });
  const ofPods = (name: string, pods: Spec) => policy(name, { pods });
  const inDev = (more: Spec = {}) =>
    ofPods('a', { namespaceSelector: { matchLabels: { stage: 'dev' } }, ...more });
  const excluding = (name: string, ...excludeNamespaces: readonly string[]) =>
    ofPods(name, { excludeNamespaces });
  const brokenOf = (value: string) => ofPods('a', { podSelector: app(value), newerField: {} });
  const brokenExcluding = ofPods('a', { excludeNamespaces: ['dev'], terminated: { threshold: 'few' } });
  const [x, y] = [{ app: 'x' }, { app: 'y' }];

  test.each<{
    readonly name: string;
    readonly policies: readonly (Policy | InvalidPolicy)[];
    readonly at?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly expected?: string;
  }>([
    { name: 'a policy without rules for pods', policies: [policy('a', { nodes: {} })] },
    { name: 'the highest priority, even without rules', policies: [a, first], expected: 'b' },
    { name: 'the first name among equals', policies: [b, a], expected: 'a' },
    { name: 'its namespace is selected', policies: [inDev(), b], expected: 'a' },
    { name: 'its namespace is not selected', policies: [inDev(), b], at: 'prod', expected: 'b' },
    { name: 'its namespace is excluded by a glob', policies: [excluding('a', 'x', 'd*'), b], expected: 'b' },
    { name: 'a glob of other namespaces', policies: [excluding('a', 'x-*', '?ev?')], expected: 'a' },
    {
      name: 'its namespace is excluded by several',
      policies: [excluding('a', 'dev', 'new'), excluding('b', 'dev'), policy('c')],
      expected: 'c',
    },
    { name: 'its namespace is selected and excluded', policies: [inDev({ excludeNamespaces: ['dev'] })] },
    { name: 'an invalid policy', policies: [policy('a', broken), b], expected: 'a' },
    { name: 'an invalid policy that excludes the namespace', policies: [brokenExcluding, b], expected: 'b' },
    {
      name: 'an invalid policy without these labels',
      policies: [brokenOf('y'), b],
      labels: x,
      expected: 'b',
    },
    { name: 'an invalid policy with these labels', policies: [brokenOf('x'), b], labels: x, expected: 'a' },
    {
      name: 'an invalid policy for nodes alone',
      policies: [policy('a', { priority: 9, nodes: { newerField: {} } }), b],
      expected: 'b',
    },
    {
      name: 'an invalid policy for nodes alone, of unreadable mode',
      policies: [policy('a', { mode: 'Newer', nodes: {} }), b],
      expected: 'a',
    },
    { name: 'an unknown namespace without selector', policies: [a], at: 'new', expected: 'a' },
    { name: 'an unknown namespace and a label', policies: [inDev(), b], at: 'new', expected: 'unknown' },
    {
      name: 'an unknown namespace and an expression',
      policies: [
        ofPods('a', { namespaceSelector: { matchExpressions: [{ key: 'stage', operator: 'Exists' }] } }),
      ],
      ...{ at: 'new', expected: 'unknown' },
    },
    {
      name: 'an unknown namespace and a selector of lower rank',
      policies: [first, inDev()],
      at: 'new',
      expected: 'b',
    },
    {
      name: 'an unknown namespace, but other labels',
      policies: [inDev({ podSelector: app('x') }), b],
      at: 'new',
      labels: y,
      expected: 'b',
    },
    {
      name: 'an unknown namespace and selected labels',
      policies: [inDev({ podSelector: app('x') }), b],
      at: 'new',
      labels: x,
      expected: 'unknown',
    },
    {
      name: 'an unknown namespace that is excluded by name',
      policies: [inDev({ excludeNamespaces: ['new'] }), b],
      at: 'new',
      expected: 'b',
    },
  ])('$name: $expected', ({ policies, at = 'dev', labels = {}, expected }) => {
    const found = podMatcher(rankPolicies(policies), namespaces)({ namespace: at, labels });
    expect(typeof found === 'object' ? found.name : found).toBe(expected);
  });
});

const ofNodes = (name: string, nodes: Spec) => policy(name, { nodes });
const everyNode = ofNodes('b', {});

test.each<[string, (Policy | InvalidPolicy)[], string | undefined]>([
  ['no rules for nodes', [policy('a')], undefined],
  ['an invalid policy for pods alone first', [policy('a', broken), everyNode], 'b'],
  [
    'an invalid policy for other nodes first',
    [ofNodes('a', { nodeSelector: app('y'), newerField: {} }), everyNode],
    'b',
  ],
])('nodeMatcher: %s', (_name, policies, expected) => {
  expect(nodeMatcher(policies)({ app: 'x' })?.name).toBe(expected);
});

test('the keep label opts an object out, with any value but false', () => {
  const isKept = (value: string) => hasKeepLabel({ labels: { [KEEP_LABEL]: value } });
  expect(['true', 'yes', '', 'false'].map(isKept)).toEqual([true, true, true, false]);
  expect([hasKeepLabel({ labels: { keep: 'true' } }), hasKeepLabel(undefined)]).toEqual([false, false]);
});

test('the needed labels are those of the pod selectors, the keep label, and those of the command line', () => {
  const policies = [
    policy('a', {
      pods: {
        podSelector: { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      },
    }),
    policy('b', { pods: { podSelector: app('y'), namespaceSelector: { matchLabels: { stage: 'dev' } } } }),
    policy('c', { nodes: { nodeSelector: { matchLabels: { zone: '1' } } } }),
    policy('d', broken),
    policy('e', { pods: { podSelector: { matchLabels: { kind: 'x' } }, newerField: {} } }),
  ];
  const needed = [KEEP_LABEL, 'app', 'tier', 'kind'];
  expect(podLabelKeys(policies)).toEqual(new Set(needed));
  const ofCommandLine = { matchLabels: { env: 'x' }, matchExpressions: [] };
  expect(podLabelKeys(policies, ofCommandLine)).toEqual(new Set([...needed, 'env']));
});

const rule = ttlRuleKey;

test.each<{ readonly terminated: Spec; readonly also?: readonly string[] }>([
  { terminated: { honorTTLAnnotation: false } },
  { terminated: { honorTTLAnnotation: true }, also: ['gc.dustpan.dev/ttl-after-finished'] },
  { terminated: { ttlByReason: [{ phase: 'Failed', ttl: '1h' }] }, also: [rule({ phase: 'Failed' })] },
  {
    terminated: { ttlByReason: [{ reason: 'Error', ttl: '1h' }] },
    also: [CONTAINER_ENDS, rule({ reason: 'Error' })],
  },
  {
    terminated: { ttlByReason: [{ exitCodes: [137], ttl: '1h' }] },
    also: [CONTAINER_ENDS, rule({ exitCodes: [137] })],
  },
])('what is no label is needed only if a policy reads it: $terminated', ({ terminated, also = [] }) => {
  const keys = podLabelKeys([policy('a'), policy('b', { pods: { terminated } })]);
  expect(keys).toEqual(new Set([KEEP_LABEL, ...also]));
});

test.each([
  { terminated: {}, jobs: false, replicaSets: false },
  { terminated: { protectUnfinishedJobs: true }, jobs: true, replicaSets: false },
  { terminated: { keepPerOwner: 1 }, jobs: true, replicaSets: true },
  { terminated: { keepPerOwnerByPhase: { succeeded: 1 } }, jobs: true, replicaSets: true },
  { terminated: { keepPerOwnerByPhase: { failed: 1 } }, jobs: true, replicaSets: true },
])('owners are needed only if a policy reads them: $terminated', ({ terminated, ...needed }) => {
  const other = policy('a', { pods: { terminated: {} } });
  expect(neededOwners([other, policy('b', { pods: { terminated } })])).toEqual(needed);
});

describe('shadowedBy', () => {
  const valid = (name: string, spec: Spec): Policy => {
    const parsed = policy(name, spec);
    if (isInvalid(parsed)) throw new Error(parsed.problems.join());
    return parsed;
  };
  const both = { pods: {}, nodes: {} };

  test.each<{ readonly own: Spec; readonly above: readonly Spec[]; readonly names: readonly string[] }>([
    { own: { pods: {} }, above: [{ pods: {} }], names: ['a0'] },
    { own: { nodes: {} }, above: [{ nodes: {} }], names: ['a0'] },
    { own: both, above: [{ pods: {} }, { nodes: {} }], names: ['a0', 'a1'] },
    { own: both, above: [both], names: ['a0'] },
    { own: both, above: [{ pods: {} }], names: [] },
    { own: { pods: {} }, above: [{ nodes: {} }], names: [] },
    { own: { nodes: {} }, above: [{ pods: {} }], names: [] },
    { own: { pods: {} }, above: [{ pods: { podSelector: app('x') } }], names: [] },
    { own: { pods: {} }, above: [{ pods: { namespaceSelector: app('x') } }], names: [] },
    { own: { pods: {} }, above: [{ pods: { excludeNamespaces: ['x'] } }], names: [] },
    { own: { nodes: {} }, above: [{ nodes: { nodeSelector: app('x') } }], names: [] },
    { own: {}, above: [both], names: [] },
  ])('$own below $above: $names', ({ own, above, names: expected }) => {
    const higher = above.map((spec, i) => valid(`a${i}`, spec));
    expect(shadowedBy(valid('own', own), higher)).toEqual(expected);
  });
});

test.each([
  { pods: { excludeNamespaces: ['d*'], podSelector: app('y') }, field: 'excludeNamespaces' },
  { pods: { podSelector: app('y'), namespaceSelector: app('y') }, field: 'podSelector' },
  { pods: { podSelector: app('x'), namespaceSelector: app('y') }, field: 'namespaceSelector' },
])('a pod with app=x in dev is not selected by $pods: $field', ({ pods, field }) => {
  const selection = policy('p', { pods }).pods;
  expect(selection && unselectedBy(selection, { namespace: 'dev', labels: { app: 'x' } })).toBe(field);
});
