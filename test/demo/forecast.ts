import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import type { NodeGCReport } from '../../src/api/gen/nodegcreport.gen.ts';
import { wrapped } from '../../src/commands/cli/table.ts';
import type { KubeletSandbox } from '../sandbox/kubelet/server.ts';
import type { SummaryPod } from '../sandbox/kubelet/summary.ts';
import { policiesPath, timeoutMs, type Context } from './context.ts';
import { nodeName } from './node/objects.ts';
import { agentLog } from './node/setup.ts';
import { top } from './program.ts';
import { bar, bold, dim, green } from './screen.ts';

const [mib, gib] = [1024 ** 2, 1024 ** 3];
const capacity = 100 * gib;
/** Measurements, the first three a minute apart; the agent reads them within a few seconds. */
const readings = [
  { seconds: -112, usedPercent: 72 },
  { seconds: -52, usedPercent: 73 },
  { seconds: 8, usedPercent: 74 },
  { seconds: 14, usedPercent: 74.1 },
] as const;
const noteWidth = 76;

/** Shows a disk that fills: the agent reports when the thresholds will be crossed and the largest consumers, `top` the pods. Resolves after that. */
export async function forecastPart(context: Context): Promise<boolean> {
  const { screen, send, kubelet } = context;
  if (kubelet === undefined) return true;
  screen.print();
  screen.print(`${bold('node pressure')}: the disk of ${nodeName} fills at a steady rate`);
  screen.print(dim('  simulated  three minutes of measurements by the kubelet, within seconds'));
  const rule = { nodePressure: { thresholds: { 'nodefs.available': '15%' } } };
  screen.print(dim('  kubectl patch gcpolicy nodes --type merge -p'));
  screen.print(dim(`    '{"spec":{"nodes":`));
  screen.print(dim(`    ${JSON.stringify(rule)}}}'`));
  kubelet.configz = { kubeletconfig: { evictionHard: { 'nodefs.available': '10%' } } };
  kubelet.pods = await summaryPods(context, kubelet.pods);
  const startMs = Date.now();
  for (const [i, reading] of readings.entries()) {
    measure(kubelet, reading, startMs);
    if (i === 0) await send('PATCH', `${policiesPath}/nodes`, { spec: { nodes: rule } });
    screen.frame(lines(reading.usedPercent));
    await passes(context);
  }
  const note = await foreseen(context);
  screen.lastFrame(lines(readings[3].usedPercent));
  const event = `NodePressureAhead on node ${nodeName}: ${note}`;
  for (const line of wrapped(event, noteWidth, '    ')) screen.print(`  ${line}`);
  screen.print(green('nothing is removed yet; at 15 % the agent removes dead containers and images'));
  screen.print();
  const args = ['pods', `--node=${nodeName}`];
  screen.print(`${bold('what uses the disk')}  ${dim(`dustpan top ${args.join(' ')}`)}`);
  for (const line of await usage(context, args)) screen.print(`  ${line}`);
  return true;
}

/** The lines of `dustpan top`, once the agent has reported the usage. */
async function usage({ env }: Context, args: readonly string[]): Promise<readonly string[]> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const lines = await top(args, env);
    if (lines.some((line) => line.includes(loggerName) && line.includes('40.0Gi'))) return lines;
    if (Date.now() > deadlineMs) {
      throw new Error(`the agent does not report what uses the disk:\n${lines.join('\n')}`);
    }
    await sleep(500);
  }
}

/** A pod that is left by the part before. */
const loggerName = 'cache-small';

/** The pods of the node with their volumes as before, one of them now with large logs. */
async function summaryPods({ send }: Context, before: readonly SummaryPod[]): Promise<readonly SummaryPod[]> {
  const volumes = new Map(before.map((pod) => [pod.uid, pod.volumes]));
  const { items } = await send('GET', '/api/v1/pods');
  return (items as readonly V1Pod[])
    .filter(({ spec }) => spec?.nodeName === nodeName)
    .map(({ metadata: { uid = '', namespace = '', name = '' } = {} }) => ({
      ...{ uid, namespace, name, volumes: volumes.get(uid) ?? {} },
      containers: [{ name: 'main', layer: 8 * mib, logs: name === loggerName ? 40 * gib : 2 * mib }],
    }));
}

function measure(kubelet: KubeletSandbox, reading: (typeof readings)[number], startMs: number): void {
  const nodeFsAvailableBytes = (capacity * (100 - reading.usedPercent)) / 100;
  kubelet.node = { name: nodeName, nodeFsBytes: capacity, imageFsBytes: capacity, nodeFsAvailableBytes };
  kubelet.measuredAt = new Date(startMs + reading.seconds * 1000).toISOString();
}

const lines = (usedPercent: number): string[] => [
  `  disk ${Math.floor(usedPercent)} % ${bar(usedPercent)} the policy acts at 85 %, the kubelet at 90 %`,
];

/** Two passes: the first may have read the measurement before. */
async function passes({ directory }: Context): Promise<void> {
  const done = (): number =>
    readFileSync(agentLog(directory), 'utf8').match(/"logger":"nodepressure","msg":"planned pass"/g)
      ?.length ?? 0;
  const before = done();
  const deadlineMs = Date.now() + timeoutMs;
  while (done() < before + 2) {
    if (Date.now() > deadlineMs) throw new Error('the agent makes no passes for node pressure');
    await sleep(100);
  }
}

/** The note of the Event, once the condition PressureAhead is True as well. */
async function foreseen({ send }: Context): Promise<string> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const reports = await send('GET', '/apis/gc.dustpan.dev/v1alpha1/nodegcreports');
    const report = (reports['items'] as NodeGCReport[]).find(({ metadata }) => metadata?.name === nodeName);
    const condition = report?.status?.conditions?.find(({ type }) => type === 'PressureAhead');
    const { items } = await send('GET', '/apis/events.k8s.io/v1/events');
    const event = (items as { reason?: string; note?: string }[]).find(
      ({ reason }) => reason === 'NodePressureAhead',
    );
    if (condition?.status === 'True' && event?.note !== undefined) return event.note;
    if (Date.now() > deadlineMs) throw new Error('the agent does not foresee the threshold');
    await sleep(200);
  }
}
