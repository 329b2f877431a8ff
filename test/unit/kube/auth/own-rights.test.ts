import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import {
  agentRights,
  controllerRights,
  leaseRight,
  rightText,
  type Right,
} from '../../../../src/api/policy/needs.ts';
import { componentMetrics } from '../../../../src/daemon/metrics.ts';
import { OwnRights } from '../../../../src/kube/auth/own-rights.ts';
import { defaultsOf, nodesRules, policy, terminatedRule } from '../../../builders.ts';
import { broken } from '../../controllers/policystatus/builders.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';

const signal = new AbortController().signal;
const rights: readonly Right[] = ['pods', 'nodes'].map((resource) => ({ verb: 'list', group: '', resource }));

test('a right is missing only if the API server says so, and counts as before while it does not', async () => {
  const answers: unknown[] = [];
  const transport = new FakeTransport({ send: () => answers.shift() });
  const log = new RecordingLogger();
  const changes: (readonly string[])[] = [];
  const own = new OwnRights({
    transport,
    namespace: 'dustpan-system',
    log,
    onChange: (missing) => changes.push(missing.map(rightText)),
  });
  const allowed = { status: { allowed: true } };
  const denied = { status: { allowed: false } };
  const failed = { status: { allowed: false, evaluationError: 'webhook down' } };
  const after = async (...given: unknown[]): Promise<string | undefined> => {
    answers.push(...given);
    await own.review(rights, signal);
    return own.check();
  };
  expect(await after(failed, denied)).toBe('missing: list nodes');
  expect(rights.map((right) => own.isKnown(right))).toEqual([false, true]);
  expect(await after(allowed, allowed)).toBeUndefined();
  expect(await after(failed, allowed)).toBeUndefined();
  expect(await after(denied, allowed)).toBe('missing: list pods');
  expect(await after(failed, {})).toBe('missing: list pods');
  await expect(after(refusal(500, 'InternalError'))).rejects.toThrow('InternalError');
  expect(own.check()).toBe('missing: list pods');
  expect(await after(allowed, allowed)).toBeUndefined();
  expect(changes).toEqual([['list nodes'], [], ['list pods'], []]);
  expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    ...['warn rights are missing', 'info no right is missing any more'],
    ...['warn rights are missing', 'info no right is missing any more'],
  ]);
  expect(transport.requests[0]?.body).toMatchObject({
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'list', resource: 'pods' } },
  });
});

test('rights that an installation may leave out are missing, also in the metric, and the process is ready', async () => {
  const registry = new Registry();
  const transport = new FakeTransport({ send: () => ({ status: { allowed: false } }) });
  const onChange = componentMetrics(registry).missingRights;
  const own = new OwnRights({ transport, namespace: undefined, onChange, log: new RecordingLogger() });
  const demanding = policy({
    pods: { terminated: terminatedRule({ keepPerOwner: 1 }) },
    nodes: nodesRules({ localStorageEviction: defaultsOf('localStorageEviction') }),
  });
  const optional = controllerRights([demanding]).filter(({ values }) => values !== undefined);
  await own.review(optional, signal);
  const owners = ['list jobs', 'watch jobs', 'list replicasets', 'watch replicasets'];
  const left = [...owners, 'create pods/eviction'];
  expect([own.missing.map(rightText), own.check()]).toEqual([left, undefined]);
  const shown = await registry.getSingleMetric('dustpan_missing_rights')?.get();
  expect(
    shown?.values.map(({ labels: { verb, resource }, value }) => [`${verb} ${resource}`, value]),
  ).toEqual(left.map((right) => [right, 1]));
});

const base = ['gcpolicies', 'pods', 'nodes', 'namespaces'].flatMap((name) => [
  `list ${name}`,
  `watch ${name}`,
]);
const status = 'patch gcpolicies/status';
const verifying = ['get nodes', 'get namespaces'];
const deleting = [...verifying, 'patch pods/status', 'delete pods'];
const writingWanted = ['get configmaps', 'create configmaps', 'update configmaps'];
const listingWorkloads = ['daemonsets', 'cronjobs', 'jobs', 'deployments', 'statefulsets', 'replicasets'].map(
  (kind) => `list ${kind}`,
);
const reports = ['list nodegcreports', 'watch nodegcreports'];

test.each([
  { name: 'no policy', policies: [], expected: base },
  { name: 'an invalid policy', policies: [broken], expected: base },
  { name: 'DryRun', policies: [policy({ mode: 'DryRun' })], expected: [...base, status] },
  { name: 'Enforce', policies: [policy()], expected: [...base, status, ...deleting] },
  {
    name: 'unfinished Jobs',
    policies: [
      policy({ mode: 'DryRun', pods: { terminated: terminatedRule({ protectUnfinishedJobs: true }) } }),
    ],
    expected: [...base, 'list jobs', 'watch jobs', status],
  },
  {
    name: 'evictions',
    policies: [
      policy({
        pods: undefined,
        nodes: nodesRules({ localStorageEviction: defaultsOf('localStorageEviction') }),
      }),
    ],
    expected: [...base, ...reports, status, ...verifying, 'get pods', 'create pods/eviction'],
  },
  {
    name: 'the images that workloads want',
    policies: [policy({ pods: undefined, nodes: nodesRules({ imageGC: imageRule({ pinWanted: true }) }) })],
    expected: [...base, ...reports, status, ...listingWorkloads, ...writingWanted],
  },
])('the rights of the controller: $name', ({ policies, expected }) => {
  expect(controllerRights(policies).map(rightText).toSorted()).toEqual([...expected].toSorted());
});

test('a right in the own namespace is not missing while the namespace is not known', async () => {
  const transport = new FakeTransport({ send: () => ({ status: { allowed: false } }) });
  const own = new OwnRights({ transport, namespace: undefined, log: new RecordingLogger() });
  const local = agentRights(true).filter(({ isLocal }) => isLocal === true);
  expect(local).toHaveLength(1);
  expect(await own.review(local, signal)).toBe(false);
  expect(own.missing).toEqual([]);
  expect(transport.requests).toEqual([]);
});

test('a right in the own namespace is reviewed there', async () => {
  const transport = new FakeTransport({ send: () => ({ status: { allowed: true } }) });
  const own = new OwnRights({ transport, namespace: 'dustpan-system', log: new RecordingLogger() });
  await own.review(agentRights(true), signal);
  const reviewed = transport.requests.map(({ body }) => (body as V1SelfSubjectAccessReview).spec);
  expect(reviewed.at(-1)).toEqual({
    resourceAttributes: {
      ...{ verb: 'get', group: '', resource: 'configmaps' },
      ...{ namespace: 'dustpan-system', name: 'dustpan-wanted-images' },
    },
  });
  expect(reviewed.filter(({ resourceAttributes }) => resourceAttributes?.namespace)).toHaveLength(1);
  expect(reviewed).toHaveLength(agentRights(false).length + 1);
});

test('the right to renew the Lease names it', () => {
  const lease = { namespace: 'dustpan-system', name: 'dustpan-controller' };
  const right = { verb: 'update', group: 'coordination.k8s.io', resource: 'leases' };
  expect(leaseRight(lease)).toEqual({ ...right, ...lease });
});

test('the alert that the controller is down ignores rights that an installation may leave out', () => {
  const rules = readFileSync('helm/dustpan/files/rules.yaml', 'utf8');
  const [, ignored = ''] = /dustpan_missing_rights\{[^}]*resource!~"([^"]*)"/.exec(rules) ?? [];
  const nodes = nodesRules({
    imageGC: imageRule({ pinWanted: true }),
    localStorageEviction: defaultsOf('localStorageEviction'),
  });
  const all = controllerRights([
    policy({ pods: { terminated: terminatedRule({ keepPerOwner: 1 }) }, nodes }),
  ]);
  const optional = all.flatMap(({ resource, subresource, values }) =>
    values === undefined ? [] : [[resource, subresource].filter(Boolean).join('/')],
  );
  expect(ignored.split('|')).toEqual(expect.arrayContaining(optional));
  expect(ignored.split('|')).not.toContain('pods');
});
