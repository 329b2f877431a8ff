import { loadavg } from 'node:os';
import { scriptOptions } from '../../scripts/arguments.ts';
import { memoryEnvironment, memoryFlags } from '../../src/commands/agent/command.ts';
import { startAgentBed } from './agent-bed.ts';
import { agentSection, type AgentBenchResult } from './agent-report.ts';
import { measureCleaning, measureQuick, measureResting } from './agent-run.ts';
import { commandLine, pairs, say, words } from './bench-command.ts';
import { benchInBed } from './in-bed.ts';
import { kubectl } from '../cluster/servers/kubectl.ts';

const { values: options } = scriptOptions({
  options: {
    images: { type: 'string', default: '300' },
    /** In pods of ten. */
    containers: { type: 'string', default: '250' },
    /** How long the agent is watched at rest; its image passes are 5 min apart. */
    minutes: { type: 'string', default: '2' },
    /** The same with passes a few seconds apart. */
    'quick-minutes': { type: 'string', default: '1.5' },
    /** For the agent's Node, separated by spaces; as its help recommends. */
    'node-args': { type: 'string', default: memoryFlags },
    /** Its environment, the same way. */
    env: { type: 'string', default: memoryEnvironment },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();

await benchInBed({
  name: 'agent',
  parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
  run: bench,
  section: agentSection,
  write: options.write,
  json: options.json,
});

async function bench(): Promise<AgentBenchResult> {
  const [images, containers, minutes] = [options.images, options.containers, options.minutes].map(Number);
  const quickMinutes = Number(options['quick-minutes']);
  if (!images || !containers || !minutes || !quickMinutes)
    throw new Error('--images, --containers, --minutes and --quick-minutes are numbers');
  say('starting a node and filling it');
  const bed = await startAgentBed({ images, containers });
  await using cluster = bed.cluster;
  const how = { nodeArgs: words(options['node-args']), env: pairs(options.env) };
  const node = [
    'get',
    'node',
    cluster.node.name,
    '-o',
    'jsonpath={.status.nodeInfo.kubeletVersion} {.status.nodeInfo.containerRuntimeVersion}',
  ];
  const [kubernetes = '', runtime = ''] = (await kubectl(cluster, node)).split(' ');
  say(`at rest, ${minutes} min`);
  const resting = await measureResting(bed, how, minutes);
  say('passes a few seconds apart');
  const quick = await measureQuick(bed, how, quickMinutes);
  say('Enforce');
  const cleaned = await measureCleaning(bed, how);
  return {
    command: commandLine('bench:agent'),
    loadBefore,
    ...{ nodeArgs: options['node-args'], env: options.env, images, containers, minutes, quickMinutes },
    ...{ kubernetes, runtime, resting, quick, cleaned },
  };
}
