import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { invalidPolicyText, isInvalid } from '../../../src/api/policy/policy.ts';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';
import { goodPolicies } from '../../contract/policies/good.ts';
import { badPolicies, policyOf } from '../../contract/policies/table.ts';

const problemsOf = (spec: unknown): readonly string[] => {
  const policy = parsePolicy(policyOf('p', spec));
  return 'problems' in policy ? policy.problems : [];
};
const everything = { matchLabels: {}, matchExpressions: [] };

describe('defaults', () => {
  test('an empty spec has no rules', () => {
    const metadata = { name: 'p', uid: 'u', generation: 3 };
    expect(parsePolicy({ metadata, spec: {} })).toEqual({
      ...metadata,
      rulesId: '',
      mode: 'DryRun',
      priority: 0,
      pods: undefined,
      nodes: undefined,
    });
  });

  test.each([
    { name: 'the id of rules', value: '0123456789ab', expected: '0123456789ab' },
    { name: 'another text, which a message names', value: 'yes', expected: 'yes' },
    { name: 'an empty text', value: '', expected: undefined },
    { name: 'no annotation', value: undefined, expected: undefined },
    { name: 'no text', value: 3, expected: undefined },
  ])('the annotation that ends a hold: $name', ({ value, expected }) => {
    const annotations = { 'gc.dustpan.dev/skip-hold': value };
    const raw = { metadata: { name: 'p', annotations }, spec: {} };
    expect(parsePolicy(raw)).toHaveProperty('skipHoldOf', expected);
  });
});

test('the policy of docs/concepts.md, which has nearly every field', async () => {
  const page = readFileSync(new URL('../../../docs/concepts.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /^```yaml\n(apiVersion: gc[\s\S]*?)^```$/m.exec(page) ?? [];
  const parsed = parsePolicy(load(yaml));
  await expect(inspect(parsed, { depth: Infinity, sorted: true })).toMatchFileSnapshot(
    '__snapshots__/concepts-policy.txt',
  );
});

test('converts times, bytes and lists', () => {
  const matchExpressions = [{ key: 'a', operator: 'Exists' }];
  const spec = {
    pods: {
      podSelector: { matchLabels: { team: null }, matchExpressions },
      terminated: {
        perNamespaceThreshold: 0,
        ttlAfterFinished: '24h',
        ttlByReason: [{ phase: 'Failed', messagePattern: '', ttl: '0s' }],
      },
    },
    nodes: {
      containerGC: { maxContainers: 0, logs: { warnBytesPerContainer: '1.5Ki' } },
      localStorageEviction: { warnAtPercent: [95, 80], gracePeriodSeconds: 0 },
      namespaceBudgets: [{ namespaceSelector: {}, perNode: '20Gi' }],
    },
  };
  const expression = { key: 'a', operator: 'Exists', values: [] };
  expect(parsePolicy(policyOf('p', spec))).toMatchObject({
    pods: {
      podSelector: { matchLabels: { team: '' }, matchExpressions: [expression] },
      terminated: {
        perNamespaceThreshold: undefined,
        ttlAfterFinishedMs: 86_400_000,
        ttlByReason: [{ phase: 'Failed', messagePattern: undefined, ttlMs: 0 }],
      },
    },
    nodes: {
      containerGC: { maxContainers: 0, logs: { warnBytesPerContainer: 1536 } },
      localStorageEviction: { warnAtPercent: [80, 95], gracePeriodSeconds: 1 },
      namespaceBudgets: [
        { namespaceSelector: everything, perNodeBytes: 20 * 2 ** 30, clusterBytes: undefined },
      ],
    },
  });
});

test('namespaces that a policy excludes for pods are excluded from its evictions too', () => {
  const spec = {
    pods: { excludeNamespaces: ['kube-system', 'logging'] },
    nodes: { excludeNamespaces: ['logging', 'storage'] },
  };
  expect(parsePolicy(policyOf('p', spec))).toMatchObject({
    pods: { excludeNamespaces: new Set(['kube-system', 'logging']) },
    nodes: { excludeNamespaces: new Set(['logging', 'storage', 'kube-system']) },
  });
});

describe('problems', () => {
  test.each(badPolicies)('$name', ({ spec, field, message }) => {
    expect(problemsOf(spec).join('\n')).toContain(`${field}: ${message}`);
  });

  test('their texts', async () => {
    const texts = badPolicies.map(({ name, spec }) => `# ${name}\n${problemsOf(spec).join('\n')}\n`);
    await expect(texts.join('\n')).toMatchFileSnapshot('__snapshots__/problems.txt');
  });

  test('an unknown field does not hide a broken rule', () => {
    expect(problemsOf({ nodes: { imageGC: { lowThresholdPercent: 90, bogus: 1 } } })).toHaveLength(2);
  });

  test('all are reported, one a line', () => {
    const spec = { mode: 'x'.repeat(1000), priority: '\n', pods: { excludeNamespaces: ['A', 'b', 'b'] } };
    const problems = problemsOf(spec);
    expect(problems).toContain('spec.pods.excludeNamespaces[2]: must not be given twice');
    expect(problems).toHaveLength(4);
    for (const problem of problems) expect(problem).toMatch(/^.{1,200}$/);
  });
});

describe('an invalid policy', () => {
  test.each([
    ['no spec', undefined, undefined],
    ['an unreadable priority', { priority: 'x' }, undefined],
    ['a priority out of range', { priority: 1e10 }, undefined],
    ['no priority', { mode: 'x' }, 0],
  ])('with %s has the priority %s', (_name, spec, priority) => {
    expect(parsePolicy(policyOf('p', spec)).priority).toBe(priority);
  });
});

describe('an invalid policy selects', () => {
  const app = { matchLabels: { app: 'x' } };
  const selectorOfApp = { ...app, matchExpressions: [] };
  const newer = { newerField: 1 };
  const all = {
    ...{ namespaceSelector: everything, podSelector: everything },
    excludeNamespaces: new Set<string>(),
  };
  const none = { pods: undefined, nodes: undefined };
  const every = { pods: all, nodes: { nodeSelector: everything } };
  const ofApp = { podSelector: app };
  const laterRules = {
    ...newer,
    ...ofApp,
    namespaceSelector: app,
    excludeNamespaces: ['a'],
    terminated: newer,
  };
  const podsOfApp = { ...all, podSelector: selectorOfApp };

  test.each<[string, unknown, object]>([
    ['nothing without blocks', newer, none],
    [
      'no pods without their block',
      { ...newer, nodes: { nodeSelector: app } },
      { ...none, nodes: { nodeSelector: selectorOfApp } },
    ],
    [
      'what its selectors select, although it has fields of a later version',
      { pods: laterRules },
      {
        ...none,
        pods: { ...podsOfApp, namespaceSelector: selectorOfApp, excludeNamespaces: new Set(['a']) },
      },
    ],
    [
      'all that its selectors select, if its exclusions are of a later version',
      { pods: { ...ofApp, excludeNamespaces: ['openshift-+'] } },
      { ...none, pods: podsOfApp },
    ],
    [
      'every pod, if a selector cannot be read',
      { pods: { podSelector: { ...app, ...newer }, namespaceSelector: app } },
      { ...none, pods: all },
    ],
    ['every pod, if the block is no object', { pods: 'all' }, { ...none, pods: all }],
    [
      'every node, if the selector cannot be read',
      { nodes: { nodeSelector: 'pool=a', imageGC: {} } },
      { ...none, nodes: every.nodes },
    ],
    ['everything, if its mode cannot be read', { mode: 'Newer', pods: ofApp }, every],
    ['everything, if its priority cannot be read', { priority: 'high', pods: ofApp }, every],
    ['everything, if its spec is missing', undefined, every],
  ])('%s', (_name, spec, selected) => {
    const policy = parsePolicy(policyOf('p', spec));
    expect(isInvalid(policy)).toBe(true);
    expect({ pods: policy.pods, nodes: policy.nodes }).toEqual(selected);
  });

  test.each([
    [{ pods: { newerField: 1 } }, 'keeps the pods that it selects and'],
    [{ pods: {}, nodes: { newerField: 1 } }, 'keeps the pods and nodes that it selects and'],
    [{ newerField: 1 }, 'is invalid, and selects nothing: spec.newerField: '],
  ])('%j: the message says so', (spec, text) => {
    const policy = parsePolicy(policyOf('p', spec));
    expect('problems' in policy ? invalidPolicyText(policy) : '').toContain(text);
  });
});

test.each(goodPolicies)('accepts %s', (_name, spec) => {
  expect(isInvalid(parsePolicy(policyOf('p', spec)))).toBe(false);
});

test('a policy without a name is invalid', () => {
  expect(parsePolicy({ spec: {} })).toMatchObject({ problems: ['metadata.name: must be given'] });
});

test('never throws, whatever is stored', () => {
  const names = 'spec pods nodes terminated podSelector matchLabels matchExpressions ttlByReason keep'.split(
    ' ',
  );
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.string() },
  );
  const raw = fc.oneof(
    fc.anything({ key, withBigInt: true, withNullPrototype: true, maxDepth: 6 }),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(raw, (value) => {
      for (const object of [value, { spec: value }, { metadata: value, spec: { pods: value, nodes: value } }])
        parsePolicy(object);
    }),
  );
});
