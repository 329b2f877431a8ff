import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { memoryEnvironment, memoryFlags } from '../../src/cli/agent-command.ts';
import { kubectl } from '../cluster/agent-world.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { inJail } from '../cluster/run.ts';
import { startAgentBed } from './agent-bed.ts';
import { agentSection, type AgentBenchResult } from './agent-report.ts';
import { measureCleaning, measureQuick, measureResting } from './agent-run.ts';
import { writeSection } from './report.ts';

const { values: options } = parseArgs({
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
const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

if (process.env['BED_DIR'] === undefined) {
  const script = join(repositoryRoot(), 'scripts/run.mjs');
  const self = join(repositoryRoot(), 'test/bench/agent.ts');
  process.exitCode = await inJail([process.execPath, script, self, ...process.argv.slice(2)], {
    imageFsMB: 0,
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
  });
} else {
  const result = await bench();
  const text = agentSection(result);
  process.stdout.write(`${text}\n`);
  if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
  if (options.write) writeSection(text);
}

async function bench(): Promise<AgentBenchResult> {
  const [images, containers, minutes] = [options.images, options.containers, options.minutes].map(Number);
  const quickMinutes = Number(options['quick-minutes']);
  if (!images || !containers || !minutes || !quickMinutes)
    throw new Error('--images, --containers, --minutes and --quick-minutes are numbers');
  say('starting a node and filling it');
  const bed = await startAgentBed({ images, containers });
  await using cluster = bed.cluster;
  const how = {
    nodeArgs: words(options['node-args']),
    env: Object.fromEntries(words(options.env).map((word) => word.split('=', 2))) as Record<string, string>,
  };
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
    command: commandLine(),
    loadBefore,
    ...{ nodeArgs: options['node-args'], env: options.env, images, containers, minutes, quickMinutes },
    ...{ kubernetes, runtime, resting, quick, cleaned },
  };
}

/** What to type for the same again. */
function commandLine(): string {
  const said = process.argv.slice(2).filter((arg, i, all) => !isOutput(arg) && all[i - 1] !== '--json');
  return ['npm run bench:agent --', ...said.map((arg) => (arg.includes(' ') ? `'${arg}'` : arg))].join(' ');
}

function isOutput(arg: string): boolean {
  return arg === '--write' || arg === '--json';
}

function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
