import { startCluster } from '../cluster/cluster.ts';
import { dustpanUser } from '../cluster/dustpan.ts';
import { etcdClient } from '../cluster/etcd.ts';
import { inJail } from '../cluster/run.ts';
import { apiClient, rawDeleteRate } from './api-client.ts';
import { prepareBenchPods, thresholdOf } from './bench-pods.ts';
import { measureAtRest, measureClearing } from './run-dustpan.ts';
import { settled } from './settle.ts';
if (process.env['BED_DIR'] === undefined) {
  process.exitCode = await inJail([process.execPath, 'scripts/run.mjs', 'test/bench/zz-profile.ts', ...process.argv.slice(2)]);
} else {
  const size = { pods: 100000, due: 5000 };
  const cluster = await startCluster({ parts: ['etcd', 'api'], crds: true, users: [dustpanUser], api: { audit: false } });
  const bed = { cluster, etcd: etcdClient(cluster.etcdUrl), api: apiClient(cluster) };
  const prepared = await prepareBenchPods(bed, size);
  await prepared.load(bed.etcd, () => undefined);
  console.log('loaded');
  const raw = async () => { await settled(cluster); const r = await rawDeleteRate(bed.api, prepared.due, 64); await prepared.restore(bed.etcd); await settled(cluster); console.log('raw', r.toFixed(0)); };
  await raw(); await raw();
  for (const spec of process.argv.slice(2)) {
    const [mode = '', args = ''] = spec.split('@');
    const nodeArgs = args.split(' ').filter(Boolean);
    try {
    if (mode === 'rest') console.log(spec, JSON.stringify(await measureAtRest(bed, prepared, nodeArgs), (k, v) => typeof v === 'number' ? Math.round(v * 100) / 100 : v));
    else if (mode === 'raw') await raw();
    else { console.log(spec, JSON.stringify(await measureClearing(bed, prepared, nodeArgs), (k, v) => typeof v === 'number' ? Math.round(v * 100) / 100 : v)); await prepared.restore(bed.etcd); await settled(cluster); }
    } catch (e) { console.log(spec, e); }
  }
  await cluster.stop();
}
