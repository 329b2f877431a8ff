import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../cluster/cluster.ts';
import { dustpanUser } from '../cluster/dustpan.ts';
import { etcdClient } from '../cluster/etcd.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { inJail } from '../cluster/run.ts';
import { apiClient } from './api-client.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { prepareBenchPods, type Bed } from './bench-pods.ts';
import { ChurnClient } from './churn-client.ts';
import { churnSection, type ChurnResult } from './churn-report.ts';
import { measureDustpan, measureUpstreamChurn, type Observed } from './churn-run.ts';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from './controller-runtime.ts';
import { serverVersion, writeSection } from './report.ts';
import { settled } from './settle.ts';

const { values: options } = parseArgs({
  options: {
    /** There all the time; of short-lived ones there are some more. */
    pods: { type: 'string', default: '50000' },
    /** Changes a second. */
    rate: { type: 'string', default: '200' },
    /** How long, for each collector. */
    minutes: { type: 'string', default: '5' },
    /** For dustpan's Node, separated by spaces; by default what is recommended for so many pods. */
    'node-args': { type: 'string', default: '' },
    /** For dustpan's process, NAME=VALUE separated by spaces: what the chart sets. */
    env: { type: 'string', default: controllerEnv },
    /** Without kube-controller-manager. */
    'no-peer': { type: 'boolean', default: false },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();
const [pods, rate, minutes] = [Number(options.pods), Number(options.rate), Number(options.minutes)];
if (!pods || !rate || !minutes) throw new Error('--pods, --rate and --minutes are numbers above 0');
const dustpanArgs = options['node-args'] === '' ? nodeArgs(oldSpaceMbFor(pods)) : options['node-args'];

if (process.env['BED_DIR'] === undefined) {
  const script = join(repositoryRoot(), 'scripts/run.mjs');
  const self = join(repositoryRoot(), 'test/bench/churn.ts');
  process.exitCode = await inJail([process.execPath, script, self, ...process.argv.slice(2)], {
    imageFsMB: 0,
  });
} else {
  const result = await bench();
  const text = churnSection(result);
  process.stdout.write(`${text}\n`);
  if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
  if (options.write) writeSection(text);
}

async function bench(): Promise<ChurnResult> {
  say('starting etcd, kube-apiserver and kube-controller-manager');
  await using cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm'],
    // Nothing is over this threshold.
    kcm: {
      controllers: 'pod-garbage-collector-controller',
      args: ['--terminated-pod-gc-threshold=100000000', '--kube-api-qps=20', '--kube-api-burst=30'],
    },
    crds: true,
    users: [dustpanUser],
    api: { audit: false },
  });
  await cluster.kill('kcm');
  const bed = { cluster, etcd: etcdClient(cluster.etcdUrl), api: apiClient(cluster) };
  const client = await load(bed);
  const pace = { perSecond: rate, seconds: minutes * 60 };
  say(`dustpan, ${rate} changes a second for ${minutes} min`);
  const runtime = { args: words(dustpanArgs), env: pairs(options.env) };
  const dustpan = await measureDustpan(bed, client, { ...pace, runtime });
  const upstream = options['no-peer'] ? undefined : await measurePeer(bed, client, pace);
  return {
    command: commandLine('bench:churn'),
    ...{ loadBefore, nodeArgs: dustpanArgs, env: options.env, pods, rate, minutes },
    apiServer: await serverVersion(bed.api),
    dustpan,
    ...(upstream && { upstream }),
  };
}

async function load(bed: Bed): Promise<ChurnClient> {
  const prepared = await prepareBenchPods(bed, { pods, due: 0 });
  await prepared.load(bed.etcd, () => undefined);
  await prepared.check(bed.api);
  say(`loaded ${pods} pods`);
  await settled(bed.cluster);
  return new ChurnClient(bed.api, prepared, pods);
}

async function measurePeer(
  bed: Bed,
  client: ChurnClient,
  pace: { readonly perSecond: number; readonly seconds: number },
): Promise<Observed> {
  say('kube-controller-manager, the same');
  await settled(bed.cluster);
  return await measureUpstreamChurn(bed, client, pace);
}
