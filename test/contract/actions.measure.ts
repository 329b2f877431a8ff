import { startContractCluster } from '../cluster/contract.ts';
import { contractTransport, Objects, type Pod } from './actions.bed.ts';
const server = await startContractCluster();
const transport = await contractTransport(server);
const objects = new Objects(transport);
await objects.start();
const signal = new AbortController().signal;
const pods: Pod[] = [];
const many = async (n: number, width: number, act: () => Promise<unknown>) => {
  let left = n;
  await Promise.all(Array.from({ length: width }, async () => { while (left-- > 0) await act(); }));
};
const accepts = { plain: 'application/json', meta: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json', table: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const padding = 'x'.repeat(4000);
for (const round of [1, 2, 3, 4]) for (const [name, accept] of Object.entries(accepts)) {
  await many(2000, 32, async () => { 
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'p-', annotations: { padding } }, spec: { nodeName: 'x', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'a' }] } };
    const r = await transport.send({ method: 'POST', path: `/api/v1/namespaces/${objects.namespace}/pods`, body }, signal);
    pods.push(JSON.parse(r.body.toString()) as Pod);
  });
  const cpu = process.cpuUsage(); const t = performance.now(); let bytes = 0;
  await many(2000, 64, async () => {
    const { metadata: m } = pods.pop()!;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: m.uid, resourceVersion: m.resourceVersion } };
    const r = await transport.send({ method: 'DELETE', path: `/api/v1/namespaces/${objects.namespace}/pods/${m.name}`, accept, body, ...(name === 'table' ? { query: { includeObject: 'None' } } : {}) }, signal);
    bytes += r.body.length;
  });
  const s = (performance.now() - t) / 1000; const c = process.cpuUsage(cpu);
  console.log(round, name, (2000 / s).toFixed(0) + '/s', 'cpu ms', ((c.user + c.system) / 1000).toFixed(0), 'bytes/delete', bytes / 2000, 'rss', (process.memoryUsage().rss / 1e6).toFixed(0));
}
transport.close();
await server.stop();
