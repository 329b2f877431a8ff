import { describe, expect, test } from 'vitest';
import {
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
  test('of two with one name, as no server has them, neither is put before the other', () => {
    const twins = [policy('a'), policy('a', { mode: 'Enforce' })];
    expect(rankPolicies(twins)).toEqual(twins);
    expect(rankPolicies(twins.toReversed())).toEqual(twins.toReversed());
  });

  test('the highest priority first, then by name', () => {
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

  test('an invalid policy keeps its rank; with an unreadable priority it is first', () => {
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
  const inStage = (stage: string, more: Spec = {}): Spec => ({
    pods: { namespaceSelector: { matchLabels: { stage } }, ...more },
  });
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
    {
      name: 'a policy that says nothing about pods',
      policies: [policy('a', { nodes: {} })],
      expected: undefined,
    },
    {
      name: 'a policy without rules governs too',
      policies: [policy('a', { pods: {}, priority: 1 }), policy('b')],
      expected: 'a',
    },
    {
      name: 'the highest priority',
      policies: [policy('a'), policy('b', { pods: {}, priority: 1 })],
      expected: 'b',
    },
    { name: 'the first name among equals', policies: [policy('b'), policy('a')], expected: 'a' },
    {
      name: 'its namespace is selected',
      policies: [policy('a', inStage('dev')), policy('b')],
      expected: 'a',
    },
    {
      name: 'its namespace is not selected',
      policies: [policy('a', inStage('dev')), policy('b')],
      at: 'prod',
      expected: 'b',
    },
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
    {
      name: 'an invalid policy takes what it might govern',
      policies: [policy('a', broken), policy('b')],
      expected: 'a',
    },
    {
      name: 'a higher policy is heard before an invalid one',
      policies: [policy('a', broken), policy('b', { pods: {}, priority: 1 })],
      expected: 'b',
    },
    {
      name: 'an unknown namespace and no namespace selector',
      policies: [policy('a')],
      at: 'new',
      expected: 'a',
    },
    {
      name: 'an unknown namespace and a namespace selector',
      policies: [policy('a', inStage('dev')), policy('b')],
      at: 'new',
      expected: 'unknown',
    },
    {
      name: 'an unknown namespace, decided before',
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
  ])('$name', ({ policies, at = 'dev', labels = {}, expected }) => {
    expect(governor(policies, at, labels)).toBe(expected);
  });

  test('asked again about a namespace, it looks at the labels of each pod', () => {
    const matcher = podMatcher([policy('a', { pods: { podSelector: app('x') } })], namespaces);
    expect(matcher({ namespace: 'dev', labels: { app: 'x' } })).toBeDefined();
    expect(matcher({ namespace: 'dev', labels: { app: 'y' } })).toBeUndefined();
    expect(matcher({ namespace: 'prod', labels: { app: 'x' } })).toBeDefined();
  });
});

test.each<[string, (Policy | InvalidPolicy)[], string | undefined]>([
  ['nothing about nodes', [policy('a')], undefined],
  ['selected', [policy('a', { nodes: { nodeSelector: app('x') } }), policy('b', { nodes: {} })], 'a'],
  ['not selected', [policy('a', { nodes: { nodeSelector: app('y') } }), policy('b', { nodes: {} })], 'b'],
  ['an invalid policy first', [policy('a', broken), policy('b', { nodes: {} })], 'a'],
])('nodeMatcher: %s', (_name, policies, expected) => {
  expect(nodeMatcher(policies)({ app: 'x' })?.name).toBe(expected);
});

test('podLabelKeys are those of the pod selectors and the keep label', () => {
  const policies = [
    policy('a', {
      pods: {
        podSelector: { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      },
    }),
    policy('b', { pods: { podSelector: app('y'), namespaceSelector: { matchLabels: { stage: 'dev' } } } }),
    policy('c', { nodes: { nodeSelector: { matchLabels: { zone: '1' } } } }),
    policy('d', broken),
  ];
  expect(podLabelKeys(policies)).toEqual(new Set([KEEP_LABEL, 'app', 'tier']));
});
