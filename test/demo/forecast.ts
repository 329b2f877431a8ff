import type { NodeGCReport } from '../../src/api/gen/nodegcreport.gen.ts';
import { wrapped } from '../../src/process/table.ts';
import { nodeName, policiesPath, reportsPath, until, type Context } from './context.ts';
import { dustpan, type Program } from './program.ts';
import { bar, bold, dim, frame, green, print } from './screen.ts';

const capacity = 100 * 1024 ** 3;
/** Measurements, the first three a minute apart: around now, because one that is two minutes away, as on a busy machine, counts as unknown. */
const readings = [
  { seconds: -60, usedPercent: 72 },
  { seconds: 0, usedPercent: 73 },
  { seconds: 60, usedPercent: 74 },
  { seconds: 66, usedPercent: 74.1 },
] as const;

/** Shows a disk that fills: the agent reports when the thresholds will be crossed, `top` what uses the disk. Resolves after that. */
export async function forecastPart(context: Context, agent: Program): Promise<void> {
  const { send, kubelet } = context;
  if (kubelet === undefined) return;
  print();
  print(`${bold('node pressure')}: the disk of ${nodeName} fills at a steady rate`);
  print(dim('  simulated  three minutes of measurements by the kubelet, within seconds'));
  const rule = { nodePressure: { thresholds: { 'nodefs.available': '15%' } } };
  for (const line of ['kubectl patch gcpolicy nodes --type merge -p', `  '{"spec":{"nodes":`])
    print(dim(`  ${line}`));
  print(dim(`    ${JSON.stringify(rule)}}}'`));
  kubelet.configz = { kubeletconfig: { evictionHard: { 'nodefs.available': '10%' } } };
  const startMs = Date.now();
  for (const [i, { seconds, usedPercent }] of readings.entries()) {
    const nodeFsAvailableBytes = (capacity * (100 - usedPercent)) / 100;
    kubelet.node = { name: nodeName, nodeFsBytes: capacity, imageFsBytes: capacity, nodeFsAvailableBytes };
    kubelet.measuredAt = new Date(startMs + seconds * 1000).toISOString();
    if (i === 0) await send('PATCH', `${policiesPath}/nodes`, { spec: { nodes: rule } });
    const line = `  disk ${Math.floor(usedPercent)} % ${bar(usedPercent)} the policy acts at 85 %, the kubelet at 90 %`;
    frame([line], { isLast: i === readings.length - 1 });
    await passes(agent);
  }
  const event = await until('the agent forecasts the threshold', () => foreseen(context));
  for (const line of wrapped(`NodePressureAhead on node ${nodeName}: ${event}`, 76, '    '))
    print(`  ${line}`);
  print(green('nothing is removed yet; at 15 % the agent removes dead containers and images'));
  print();
  const args = ['top', 'pods', `--node=${nodeName}`];
  print(`${bold('what uses the disk')}  ${dim(`dustpan ${args.join(' ')}`)}`);
  const top = await until('the agent reports what uses the disk', async () => {
    const text = await dustpan(args, context.env);
    return /web-1 .*40\.0Gi/.test(text) ? text : undefined;
  });
  for (const line of top.trimEnd().split('\n')) print(`  ${line}`.trimEnd());
}

/** Two passes: the first may have read the measurement before. */
async function passes(agent: Program): Promise<void> {
  const done = (): number =>
    agent.log.filter(({ logger, msg }) => logger === 'nodepressure' && msg === 'planned pass').length;
  const before = done();
  await until('two passes for node pressure', () => Promise.resolve(done() >= before + 2 || undefined));
}

/** The note of the Event, once the condition PressureAhead is True as well. */
async function foreseen({ send }: Context): Promise<string | undefined> {
  const { items } = await send('GET', reportsPath);
  const report = (items as NodeGCReport[]).find(({ metadata }) => metadata?.name === nodeName);
  const isAhead = report?.status?.conditions?.some(
    ({ type, status }) => type === 'PressureAhead' && status === 'True',
  );
  const { items: events } = await send('GET', '/apis/events.k8s.io/v1/events');
  const event = (events as { reason?: string; note?: string }[]).find(
    ({ reason }) => reason === 'NodePressureAhead',
  );
  return isAhead === true ? event?.note : undefined;
}
