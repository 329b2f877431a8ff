import { startCluster } from './cluster.ts';
import { etcdClient } from './etcd.ts';
import { etcdEntry, etcdKey } from './etcd-objects.ts';
const c = await startCluster({ parts: ['etcd', 'api'], crds: true });
const e = etcdClient(c.etcdUrl);
const t = '2026-01-01T00:00:00Z';
await e.put([
  etcdEntry({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x', uid: 'aaaaaaaa-0000-4000-8000-000000000000', creationTimestamp: t }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  etcdEntry({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'x', uid: 'aaaaaaaa-0000-4000-8000-000000000001', creationTimestamp: t, deletionTimestamp: t, deletionGracePeriodSeconds: 30, finalizers: ['example.com/a'] }, spec: { containers: [{ name: 'c', image: 'a' }] }, status: { phase: '' } }),
  etcdEntry({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'q', namespace: 'x', uid: 'aaaaaaaa-0000-4000-8000-000000000002', creationTimestamp: t }, spec: { nodeName: 'gone', containers: [{ name: 'c', image: 'a' }] }, status: { } }),
]);
for (const a of [['get', 'pods', '-A', '-o', 'yaml'], ['patch', 'pod', 'p', '-n', 'x', '--subresource=status', '--patch', '{"status":{"phase":"Failed"}}'], ['delete', 'pod', 'p', '-n', 'x', '--grace-period=0', '--force', '--wait=false'], ['get', 'pods', '-A', '-o', 'json', '--show-managed-fields']]) {
  const r = await c.run('kubectl', a);
  console.log(r.stdout, r.stderr);
}
console.log(await e.count('/registry/pods/'), (await e.get(etcdKey('Pod', { namespace: 'x', name: 'p' })))?.subarray(0, 20));
await c.stop();
