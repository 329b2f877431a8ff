import { expect, test } from 'vitest';
import { listsOf, type SnapshotPods } from '../../../../src/commands/snapshot/kinds.ts';

const requests = (pods: Partial<SnapshotPods>): readonly string[] =>
  listsOf({ namespace: undefined, selector: undefined, ...pods }).map(
    ({ path, query }) => path + (query === undefined ? '' : `?${new URLSearchParams(query).toString()}`),
  );
const cluster = [
  ...['/api/v1/pods', '/api/v1/nodes', '/api/v1/namespaces', '/apis/batch/v1/jobs'],
  ...['/apis/apps/v1/replicasets', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies'],
];
const ofTeam = [
  ...['/api/v1/namespaces/team/pods', '/api/v1/nodes', '/api/v1/namespaces/team'],
  ...['/apis/batch/v1/namespaces/team/jobs', '/apis/apps/v1/namespaces/team/replicasets'],
  '/apis/gc.dustpan.dev/v1alpha1/gcpolicies',
];

test.each([
  { name: 'the whole cluster', pods: {}, paths: [...cluster, '/apis/gc.dustpan.dev/v1alpha1/nodegcreports'] },
  { name: 'a namespace, as its owner may read it', pods: { namespace: 'team' }, paths: ofTeam },
  {
    name: 'the pods with labels',
    pods: { selector: 'app in (a,b)' },
    paths: ['/api/v1/pods?labelSelector=app+in+%28a%2Cb%29', ...cluster.slice(1)],
  },
  {
    name: 'the pods of a namespace with labels',
    pods: { namespace: 'team', selector: 'app' },
    paths: [`${ofTeam[0] ?? ''}?labelSelector=app`, ...ofTeam.slice(1)],
  },
])('the requests of a snapshot: $name', ({ pods, paths }) => {
  expect(requests(pods)).toEqual(paths);
});
