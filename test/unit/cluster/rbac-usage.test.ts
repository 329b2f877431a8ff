import { expect, test } from 'vitest';
import type { AuditEvent } from '../../cluster/servers/audit.ts';
import { accessesOf, rbacDifferences, type Access, type Grant } from '../../cluster/release/rbac-usage.ts';

const exact = { forbidden: [], missing: [], unused: [], excusedInVain: [] };

const access = (verb: string, what: string, more: Partial<Access> = {}): Access => ({
  ...{ verb, what, isForbidden: false },
  ...more,
});

const pods: Grant = { rule: { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] } };
const usesPods = [access('get', 'pods'), access('list', 'pods')];
const lease: Grant = {
  namespace: 'home',
  rule: {
    ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['ours'] },
    verbs: ['update'],
  },
};
const leases = 'coordination.k8s.io/leases';
const everybodys: Grant = {
  isEverybodys: true,
  rule: { nonResourceURLs: ['/version', '/api/*'], verbs: ['get'] },
};

test.each([
  { name: 'every right is used', grants: [pods], accesses: usesPods, expected: exact },
  {
    name: 'a verb that was used and is not granted',
    grants: [pods],
    accesses: [...usesPods, access('delete', 'pods')],
    expected: { ...exact, missing: ['delete pods'] },
  },
  {
    name: 'a verb that is granted and was never used',
    grants: [pods],
    accesses: [access('get', 'pods')],
    expected: { ...exact, unused: ['list pods'] },
  },
  {
    name: 'a forbidden request, even where a rule covers it',
    grants: [pods],
    accesses: [...usesPods, access('get', 'pods', { isForbidden: true })],
    expected: { ...exact, forbidden: ['get pods'] },
  },
  {
    name: 'a right to a resource is none to its subresource, nor to one of another group',
    grants: [pods],
    accesses: [...usesPods, access('get', 'pods/log'), access('get', 'metrics.k8s.io/pods')],
    expected: { ...exact, missing: ['get metrics.k8s.io/pods', 'get pods/log'] },
  },
  {
    name: 'a right in one namespace to one name',
    grants: [lease],
    accesses: [access('update', leases, { namespace: 'home', name: 'ours' })],
    expected: exact,
  },
  {
    name: 'the same in another namespace',
    grants: [lease],
    accesses: [access('update', leases, { namespace: 'away', name: 'ours' })],
    expected: { ...exact, missing: [`update ${leases}`], unused: [`update ${leases}`] },
  },
  {
    name: 'the same to another name',
    grants: [lease],
    accesses: [access('update', leases, { namespace: 'home', name: 'theirs' })],
    expected: { ...exact, missing: [`update ${leases}`], unused: [`update ${leases}`] },
  },
  {
    name: 'what everybody may',
    grants: [everybodys],
    accesses: [access('get', '/version'), access('get', '/api/v1')],
    expected: exact,
  },
  {
    name: 'a URL that not everybody may',
    grants: [everybodys],
    accesses: [access('get', '/metrics')],
    expected: { ...exact, missing: ['get /metrics'] },
  },
])('rights and requests: $name', ({ grants, accesses, expected }) => {
  expect(rbacDifferences(grants, accesses)).toEqual(expected);
});

test('an unused right may be excused; an excuse that is not needed is reported', () => {
  const excused = { 'list pods': 'only every hour', 'delete pods': 'never' };
  expect(rbacDifferences([pods], [access('get', 'pods')], excused)).toEqual({
    ...exact,
    excusedInVain: ['delete pods'],
  });
  expect(rbacDifferences([pods], usesPods, { 'list pods': 'only every hour' })).toEqual({
    ...exact,
    excusedInVain: ['list pods'],
  });
});

const event = (fields: Partial<AuditEvent>): AuditEvent => ({
  ...{ stage: 'ResponseComplete', verb: 'get', requestURI: '/', user: { username: 'we' } },
  ...{ requestReceivedTimestamp: '2026-01-01T00:00:00Z', stageTimestamp: '2026-01-01T00:00:00Z' },
  ...fields,
});

const review = (user: string, allowed: boolean): AuditEvent =>
  event({
    ...{ verb: 'create', user: { username: 'kubelet' } },
    responseObject: {
      spec: { user, resourceAttributes: { verb: 'get', resource: 'nodes', subresource: 'stats', name: 'a' } },
      status: { allowed },
    },
  });

test('an audit log has the requests of a user, and those that others made on its behalf', () => {
  const objectRef = { apiGroup: 'gc.dustpan.dev', resource: 'gcpolicies', subresource: 'status', name: 'p' };
  const events = [
    event({ verb: 'patch', objectRef, responseStatus: { code: 200 } }),
    event({ objectRef: { resource: 'pods', namespace: 'n' }, responseStatus: { code: 403 } }),
    event({ requestURI: '/version?timeout=1s' }),
    event({ user: { username: 'they' } }),
    review('we', true),
    review('they', true),
    review('we', false),
  ];
  expect(accessesOf('we', events)).toEqual([
    access('patch', 'gc.dustpan.dev/gcpolicies/status', { name: 'p' }),
    access('get', 'pods', { namespace: 'n', isForbidden: true }),
    access('get', '/version'),
    access('get', 'nodes/stats', { name: 'a' }),
    access('get', 'nodes/stats', { name: 'a', isForbidden: true }),
  ]);
});
