import { loadavg } from 'node:os';
import { scriptOptions } from '../../scripts/arguments.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { prepareBenchPods, type Bed } from './bench-pods.ts';
import { ChurnClient } from './churn-client.ts';
import { churnSection, type ChurnResult } from './churn-report.ts';
import { measureDustpan, measureUpstreamChurn, type Observed } from './churn-run.ts';
import { controllerEnv, nodeArgs, oldSpaceMbFor } from './controller-runtime.ts';
import { benchInBed, noThreshold, startPodServers } from './in-bed.ts';
import { serverVersion } from './report.ts';
import { settled } from './settle.ts';

const { values: options } = scriptOptions({
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

await benchInBed({
  name: 'churn',
  run: bench,
  section: churnSection,
  write: options.write,
  json: options.json,
});

async function bench(): Promise<ChurnResult> {
  await using bed = await startPodServers(noThreshold);
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
