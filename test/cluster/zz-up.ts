import { startCluster } from './cluster.ts';
import { etcdClient } from './etcd.ts';
import { openLedger } from './side-by-side-ledger.ts';
import { loadWorld, randomWorld } from './world.ts';
const world = randomWorld(2, { pods: 220 });
const cluster = await startCluster({ parts: ['etcd', 'api', 'kcm'], kcm: { controllers: 'pod-garbage-collector-controller', args: ['--terminated-pod-gc-threshold=40', '--v=2'] } });
await cluster.kill('kcm');
await loadWorld(etcdClient(cluster.etcdUrl), world);
const ledger = await openLedger(cluster);
console.log(ledger.pods.size);
const t0 = Date.now();
await cluster.start('kcm');
for (;;) {
  await new Promise((r) => setTimeout(r, 2000));
  console.log(Math.round((Date.now() - t0) / 1000), [...ledger.pods.values()].filter((p) => p.deleted).length, Math.round(ledger.quietForMs()));
  if (Date.now() - t0 > 90000) break;
}
const m = new Map<string, number>();
for (const p of ledger.pods.values()) { const s = p.state.replace(/Ready.*/,''); m.set(s, (m.get(s) ?? 0) + 1); }
console.log([...m].sort((a, b) => b[1] - a[1]).map(([s, n]) => `${n} ${s}`).join('\n'));
console.log(await cluster.logs('kcm', 40));
ledger.close();
await cluster.stop();
