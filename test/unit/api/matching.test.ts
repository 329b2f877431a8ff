import { describe, expect, test } from 'vitest';
import {
  hasKeepLabel,
  KEEP_LABEL,
  nodeMatcher,
  podLabelKeys,
  podMatcher,
  rankPolicies,
} from '../../../src/api/policy/matching.ts';
import { type InvalidPolicy, type Policy } from '../../../src/api/policy/policy.ts';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';

type Spec = Readonly<Record<string, unknown>>;

const policy = (name: string, spec: Spec = { pods: {} }): Policy | InvalidPolicy =>
  parsePolicy({ metadata: { name }, spec }).policy;
const app = (value: string): Spec => ({ matchLabels: { app: value } });
const broken = { pods: { podSelector: 'app=x' } };

const names = (policies: readonly (Policy | InvalidPolicy)[]): readonly string[] =>
  policies.map(({ name }) => name);

describe('rankPolicies', () => {
  test('keeps the order of two policies with one name, which no server stores', () => {
    const twins = [policy('a'), policy('a', { mode: 'Enforce' })];
    expect(rankPolicies(twins)).toEqual(twins);
    expect(rankPolicies(twins.toReversed())).toEqual(twins.toReversed());
  });

  test('ranks by priority, the highest first, then by name', () => {
    const policies = [
      policy('b'),
      policy('low', { priority: -1 }),
      policy('a'),
      policy('B'),
      policy('high', { priority: 2 }),
      policy('highest', { priority: 10 }),
    ];
    expect(names(rankPolicies(policies))).toEqual(['highest', 'high', 'B', 'a', 'b', 'low']);
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
  const first = policy('b', { pods: {}, priority: 1 });
  const inStage = (stage: string, more: Spec = {}): Spec => ({
    pods: { namespaceSelector: { matchLabels: { stage } }, ...more },
  });
  const staged = policy('a', {
    pods: { namespaceSelector: { matchExpressions: [{ key: 'stage', operator: 'Exists' }] } },
  });
  const devFirst = [policy('a', inStage('dev')), policy('b')];
  const governor = (
    policies: readonly (Policy | InvalidPolicy)[],
    namespace: string,
    labels = {},
  ): string | undefined => {
    const found = podMatcher(rankPolicies(policies), namespaces)({ namespace, labels });
    return found === undefined || found === 'unknown' ? found : found.name;
  };

  test.each<{
    name: string;
    policies: (Policy | InvalidPolicy)[];
    at?: string;
    labels?: Spec;
    expected: string | undefined;
  }>([
    { name: 'no policy', policies: [], expected: undefined },
    { name: 'a policy without rules for pods', policies: [policy('a', { nodes: {} })], expected: undefined },
    { name: 'the highest priority, even without rules', policies: [policy('a'), first], expected: 'b' },
    { name: 'the first name among equals', policies: [policy('b'), policy('a')], expected: 'a' },
    { name: 'its namespace is selected', policies: devFirst, expected: 'a' },
    { name: 'its namespace is not selected', policies: devFirst, at: 'prod', expected: 'b' },
    {
      name: 'its namespace is excluded',
      policies: [policy('a', { pods: { excludeNamespaces: ['dev'] } })],
      expected: undefined,
    },
    {
      name: 'its namespace is excluded by several',
      policies: [
        policy('a', { pods: { excludeNamespaces: ['dev', 'new'] } }),
        policy('b', { pods: { excludeNamespaces: ['dev'] } }),
        policy('c'),
      ],
      expected: 'c',
    },
    {
      name: 'its namespace is selected and excluded',
      policies: [policy('a', inStage('dev', { excludeNamespaces: ['dev'] }))],
      expected: undefined,
    },
    {
      name: 'its labels are selected',
      policies: [policy('a', { pods: { podSelector: app('x') } })],
      labels: { app: 'x' },
      expected: 'a',
    },
    {
      name: 'its labels are not selected',
      policies: [policy('a', { pods: { podSelector: app('x') } }), policy('b')],
      labels: { app: 'y' },
      expected: 'b',
    },
    { name: 'an invalid policy', policies: [policy('a', broken), policy('b')], expected: 'a' },
    {
      name: 'an invalid policy that excludes the namespace',
      policies: [
        policy('a', { pods: { excludeNamespaces: ['dev'], terminated: { threshold: 'few' } } }),
        policy('b'),
      ],
      expected: 'b',
    },
    {
      name: 'an invalid policy that does not select the labels',
      policies: [policy('a', { pods: { podSelector: app('y'), newerField: {} } }), policy('b')],
      labels: { app: 'x' },
      expected: 'b',
    },
    {
      name: 'an invalid policy that selects the labels',
      policies: [policy('a', { pods: { podSelector: app('x'), newerField: {} } }), policy('b')],
      labels: { app: 'x' },
      expected: 'a',
    },
    {
      name: 'an invalid policy for nodes alone',
      policies: [policy('a', { priority: 9, nodes: { newerField: {} } }), policy('b')],
      expected: 'b',
    },
    {
      name: 'an invalid policy for nodes alone, of unreadable mode',
      policies: [policy('a', { mode: 'Newer', nodes: {} }), policy('b')],
      expected: 'a',
    },
    { name: 'an invalid policy of lower priority', policies: [policy('a', broken), first], expected: 'b' },
    { name: 'an unknown namespace without selector', policies: [policy('a')], at: 'new', expected: 'a' },
    { name: 'an unknown namespace and a label', policies: devFirst, at: 'new', expected: 'unknown' },
    { name: 'an unknown namespace and an expression', policies: [staged], at: 'new', expected: 'unknown' },
    {
      name: 'an unknown namespace and a selector of lower rank',
      policies: [policy('a'), policy('b', inStage('dev'))],
      at: 'new',
      expected: 'a',
    },
    {
      name: 'an unknown namespace, but other labels',
      policies: [policy('a', inStage('dev', { podSelector: app('x') })), policy('b')],
      at: 'new',
      labels: { app: 'y' },
      expected: 'b',
    },
    {
      name: 'an unknown namespace and selected labels',
      policies: [policy('a', inStage('dev', { podSelector: app('x') })), policy('b')],
      at: 'new',
      labels: { app: 'x' },
      expected: 'unknown',
    },
    {
      name: 'an unknown namespace that is excluded by name',
      policies: [policy('a', inStage('dev', { excludeNamespaces: ['new'] })), policy('b')],
      at: 'new',
      expected: 'b',
    },
  ])('$name: $expected', ({ policies, at = 'dev', labels = {}, expected }) => {
    expect(governor(policies, at, labels)).toBe(expected);
  });
});

test.each<[string, (Policy | InvalidPolicy)[], string | undefined]>([
  ['no rules for nodes', [policy('a')], undefined],
  ['selected', [policy('a', { nodes: { nodeSelector: app('x') } }), policy('b', { nodes: {} })], 'a'],
  ['not selected', [policy('a', { nodes: { nodeSelector: app('y') } }), policy('b', { nodes: {} })], 'b'],
  ['an invalid policy first', [policy('a', { nodes: { nodeSelector: 1 } }), policy('b', { nodes: {} })], 'a'],
  ['an invalid policy for pods alone first', [policy('a', broken), policy('b', { nodes: {} })], 'b'],
  [
    'an invalid policy for other nodes first',
    [policy('a', { nodes: { nodeSelector: app('y'), newerField: {} } }), policy('b', { nodes: {} })],
    'b',
  ],
])('nodeMatcher: %s', (_name, policies, expected) => {
  expect(nodeMatcher(policies)({ app: 'x' })?.name).toBe(expected);
});

test.each([
  { value: 'true', is: true },
  { value: 'True', is: true },
  { value: 'yes', is: true },
  { value: '', is: true },
  { value: 'false', is: false },
])('the keep label $value opts out: $is', ({ value, is }) => {
  expect(hasKeepLabel({ labels: { 'gc.dustpan.dev/keep': value } })).toBe(is);
});

test('an object without the keep label, or that is unknown, is not opted out', () => {
  expect(hasKeepLabel({ labels: { keep: 'true' } })).toBe(false);
  expect(hasKeepLabel(undefined)).toBe(false);
});

test('the needed labels are those of the pod selectors and the keep label', () => {
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
  expect(podLabelKeys(policies)).toEqual(new Set([KEEP_LABEL, 'app', 'tier', 'kind']));
});

test('the ttl annotation is needed only if a policy reads it', () => {
  const reading = (honorTTLAnnotation: boolean): ReadonlySet<string> =>
    podLabelKeys([policy('a'), policy('b', { pods: { terminated: { honorTTLAnnotation } } })]);
  expect(reading(false)).toEqual(new Set([KEEP_LABEL]));
  expect(reading(true)).toEqual(new Set([KEEP_LABEL, 'gc.dustpan.dev/ttl-after-finished']));
});

test('the keys of a selector of the command line are needed too', () => {
  const selector = {
    matchLabels: { tier: 'x' },
    matchExpressions: [{ key: 'env', operator: 'Exists', values: [] } as const],
  };
  expect(podLabelKeys([policy('a')], selector)).toEqual(new Set([KEEP_LABEL, 'tier', 'env']));
});
