import { loadavg } from 'node:os';
import { scriptOptions } from '../../scripts/arguments.ts';
import { dustpanUser, mountServiceAccount, startDustpan } from '../cluster/controller/dustpan.ts';
import { changePolicy, createPolicy, startAgentsBed, type AgentsBed } from './agents-bed.ts';
import { Fleet, isSoon } from './agents-fleet.ts';
import { measureLooks } from './agents-looks.ts';
import { agentsSection, type AgentsBenchResult } from './agents-report.ts';
import { ageReports, measurePhase, reportBytes, type Measured, type Phase } from './agents-run.ts';
import { usageOfPart } from './process-usage.ts';
import { Tally } from './agents-tally.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { controllerEnv, nodeArgs } from './controller-runtime.ts';
import { benchInBed } from './in-bed.ts';
import { serverVersion } from './report.ts';
import { settled } from './settle.ts';

const { values: options } = scriptOptions({
  options: {
    agents: { type: 'string', default: '5000' },
    /** So many have watches of their own: each takes three connections here and at the API server. */
    watchers: { type: 'string', default: '500' },
    /** The part that removes something in each pass over containers. */
    busy: { type: 'string', default: '0.1' },
    /** How long they are watched at rest. */
    minutes: { type: 'string', default: '3' },
    /** For the controller's Node, separated by spaces. */
    'node-args': { type: 'string', default: nodeArgs(96) },
    /** Its environment, the same way. */
    env: { type: 'string', default: controllerEnv },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();
const [agents, busy, minutes] = [options.agents, options.busy, options.minutes].map(Number) as [
  number,
  number,
  number,
];
const watchers = Math.max(1, Math.min(agents, Number(options.watchers)));
/** What agents that start together take to start, and a little more. */
const startSeconds = 70;
const idleSeconds = 30;
/** Reports of news are spread over a minute. */
const newsSeconds = 70;
const outageSeconds = 150;
const recoveryMs = 80_000;
const goneMs = 30_000;

await benchInBed({
  name: 'agents',
  run: bench,
  section: agentsSection,
  write: options.write,
  json: options.json,
});

async function bench(): Promise<AgentsBenchResult> {
  if (!agents || !minutes) throw new Error('--agents and --minutes are numbers');
  const looks = await measureLooks(agents);
  say(`starting etcd and kube-apiserver, writing ${agents} nodes`);
  const bed = await startAgentsBed(agents);
  await using cluster = bed.cluster;
  await createPolicy(bed);
  await using dustpan = await startDustpan({
    // As in a pod: a kubeconfig would load the library that reads it.
    env: { ...pairs(options.env), ...mountServiceAccount(cluster, dustpanUser.name) },
    dir: cluster.dir,
    nodeArgs: words(options['node-args']),
  });
  const tally = new Tally();
  const fleet = new Fleet({ bed, watchers, busy, tally });
  try {
    const measured = await measure(bed, fleet, { bed, dustpan, tally });
    return {
      command: commandLine('bench:agents'),
      ...{ loadBefore, agents, watchers, busy, looks, env: options.env, nodeArgs: options['node-args'] },
      kubernetes: await serverVersion(bed.api),
      ...measured,
    };
  } finally {
    await fleet.close();
  }
}

type Course = Pick<
  AgentsBenchResult,
  'reportBytes' | 'rawPatchesPerSecond' | 'watchMemory' | 'outageSeconds' | 'recoverySeconds' | 'phases'
>;

async function measure(bed: AgentsBed, fleet: Fleet, measured: Measured): Promise<Course> {
  const { cluster } = bed;
  const phase = (name: string, seconds: number, begin: () => Promise<void>): Promise<Phase> => {
    say(`${name}, ${seconds} s`);
    return measurePhase(measured, { name, seconds, begin });
  };
  const nothing = (): Promise<void> => Promise.resolve();
  const start = (): Promise<void> => {
    fleet.start();
    return nothing();
  };
  await settled(cluster);
  const before = usageOfPart(cluster, 'api').residentMb;
  say(`opening the watches of ${watchers} agents`);
  await fleet.watch();
  await settled(cluster);
  const watchMemory = { beforeMb: before, afterMb: usageOfPart(cluster, 'api').residentMb };
  const nobody = await phase('no agent at work', idleSeconds, nothing);
  const first = await phase('all start in one second, for the first time', startSeconds, start);
  await fleet.stop();
  const rawPatchesPerSecond = await ageReports(bed);
  await settled(cluster);
  const again = await phase('all start in one second, with reports that are there', startSeconds, start);
  const rest = await phase('at rest', minutes * 60, nothing);
  const news = await phase('the policy changes', newsSeconds, () => changePolicy(bed));
  const away: { seconds: number; recoverySeconds: number | undefined } = {
    seconds: 0,
    recoverySeconds: undefined,
  };
  const outage = await phase('the API server is killed and started', outageSeconds, async () => {
    const killedMs = performance.now();
    await cluster.kill('api');
    await isSoon(() => fleet.synced === 0, goneMs);
    await cluster.start('api');
    const startedMs = performance.now();
    away.seconds = (startedMs - killedMs) / 1_000;
    const isBack = await isSoon(() => fleet.synced === watchers, recoveryMs);
    if (isBack) away.recoverySeconds = (performance.now() - startedMs) / 1_000;
  });
  return {
    ...{ reportBytes: await reportBytes(bed), rawPatchesPerSecond, watchMemory },
    ...{ outageSeconds: away.seconds, recoverySeconds: away.recoverySeconds },
    phases: [nobody, first, again, rest, news, outage],
  };
}
