import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PodGcPlan } from '../../src/controllers/podgc/facts.ts';
import { tokenCredentials } from '../../src/kube/credentials.ts';
import { createTransport } from '../../src/kube/http-transport.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { ContractServer, StartServer } from '../contract/server.ts';
import { fill, sender } from './fill.ts';
import { meaning } from './meaning.ts';
import { mess, podName, policy } from './mess.ts';
import { bold, countBy, dim, green, planLines, red, Screen, table } from './screen.ts';
import { look } from './view.ts';

/** Every wait of the demo ends by then, well or badly. */
const patienceMs = 45_000;

/** The demo from start to end; resolves with the exit code: 0 when exactly what should go went. */
export async function story(where: string, start: StartServer): Promise<number> {
  const screen = new Screen();
  screen.say(`${bold('dustpan demo')}: a day's mess on ${where}, and how it is cleaned`);
  const server = await start();
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-demo-'));
  const logFile = join(dir, 'controller.log');
  let controller: ChildProcess | undefined;
  const end = async (): Promise<void> => {
    if (controller) await stopController(controller);
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void end().finally(() => process.exit(130)));
  try {
    const stage = open(server, screen);
    await act1(stage);
    controller = startController(server.kubeconfigFile, logFile);
    await act2(stage);
    const before = await act3(stage);
    return await act4(stage, before, logFile);
  } catch (err) {
    screen.say(red(`the demo failed: ${String(err)}`));
    screen.say(
      readLog(logFile)
        .slice(-10)
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    return 1;
  } finally {
    await end();
  }
}

interface Stage {
  readonly screen: Screen;
  readonly send: ReturnType<typeof sender>;
  readonly look: () => Promise<PodGcPlan>;
}

function open(server: ContractServer, screen: Screen): Stage {
  const ca = server.caFile === undefined ? undefined : readFileSync(server.caFile);
  const transport = createTransport({
    endpoint: { server: server.url, tls: { ca } },
    auth: tokenCredentials(server.token),
    clock: systemClock,
  });
  const signal = AbortSignal.timeout(patienceMs * 3);
  return { screen, send: sender(transport, signal), look: () => look(transport, signal) };
}

async function act1({ screen, send }: Stage): Promise<void> {
  await send('POST', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies', policy('DryRun'));
  const pods = await fill(send);
  screen.say(`made ${pods} pods; node-7 vanished under three of them, node-6 is out of service`);
  screen.say();
}

/** DryRun: long enough to see that nothing happens. */
async function act2({ screen, look: see }: Stage): Promise<void> {
  screen.say(
    `${bold('mode DryRun')} ${dim('(the default): everything is decided and counted, nothing is touched')}`,
  );
  const before = await see();
  const until = Date.now() + 7_000;
  while (Date.now() < until) {
    screen.frame(planLines(await see()));
    await sleep(500);
  }
  const after = await see();
  screen.settle(planLines(after));
  if (podNames(after).join() !== podNames(before).join()) throw new Error('DryRun touched a pod');
  screen.say(green(`after 7 s all ${podNames(after).length} pods are still there`));
  screen.say();
}

/** Enforce: until nothing is due any more. Resolves with the pods there were. */
async function act3({ screen, send, look: see }: Stage): Promise<readonly string[]> {
  screen.say(bold('mode Enforce'));
  screen.say(dim(`  kubectl patch gcpolicy default --type merge -p '{"spec":{"mode":"Enforce"}}'`));
  const before = podNames(await see());
  await send('PATCH', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies/default', policy('Enforce'));
  const until = Date.now() + patienceMs;
  for (;;) {
    const plan = await see();
    const left = podNames(plan);
    const lines = [`  ${left.length} of ${before.length} pods left`, ...planLines(plan)];
    const waiting = [...plan.kept()].some(({ reason }) => reason === 'Quarantined');
    if (plan.deletions.length === 0 && !waiting) {
      screen.settle(lines);
      return before;
    }
    if (Date.now() > until)
      throw new Error(`still due: ${plan.deletions.map(({ pod }) => pod.name).join(', ')}`);
    screen.frame(lines);
    await sleep(200);
  }
}

/** The reckoning, group by group: what the controller's own log says went, what is left and why. */
async function act4(
  { screen, look: see }: Stage,
  before: readonly string[],
  logFile: string,
): Promise<number> {
  const plan = await see();
  const went = new Map(
    readLog(logFile)
      .filter(({ msg }) => msg === 'deleted pod')
      .map(({ pod, reason }) => [pod?.name ?? '', reason ?? '']),
  );
  const stays = new Map([...plan.kept()].map(({ pod, reason }) => [pod.name, reason]));
  screen.say();
  screen.say(bold('what went, what stayed, and why'));
  const rows = mess.flatMap((leftover) => {
    const names = Array.from({ length: leftover.count }, (_, index) => podName(leftover, index));
    const verdicts = [...told('deleted', names, went), ...told('kept', names, stays)];
    return verdicts.map((verdict, i) => [
      ...(i === 0 ? [leftover.group, String(leftover.count)] : ['', '']),
      ...verdict,
    ]);
  });
  for (const line of table([['', 'made', '', '', ''], ...rows])) screen.say(line);
  screen.say();
  const used = new Set<string>([...went.values(), ...stays.values(), 'Quarantined']);
  for (const [reason, words] of Object.entries(meaning) as [keyof typeof meaning, string][])
    if (used.has(reason)) screen.say(dim(`${reason.padEnd(22)} ${words}`));
  screen.say();
  return verdict(screen, { before, went: [...went.keys()], left: podNames(plan) });
}

const told = (verdict: string, names: readonly string[], reasons: ReadonlyMap<string, string>): string[][] =>
  [
    ...countBy(
      names.flatMap((name) => reasons.get(name) ?? []),
      (reason) => reason,
    ),
  ].map(([reason, count]) => [verdict, String(count), reason]);

interface Sums {
  readonly before: readonly string[];
  readonly went: readonly string[];
  readonly left: readonly string[];
}

function verdict(screen: Screen, { before, went, left }: Sums): number {
  const unexplained = before.filter((name) => !went.includes(name) && !left.includes(name));
  if (unexplained.length > 0) {
    screen.say(red(`gone without a word: ${unexplained.join(', ')}`));
    return 1;
  }
  screen.say(
    green(`${before.length} pods before, ${went.length} deleted, ${left.length} left; each with a reason`),
  );
  return 0;
}

const podNames = (plan: PodGcPlan): string[] =>
  [...plan.deletions.map(({ pod }) => pod.name), ...[...plan.kept()].map(({ pod }) => pod.name)].sort();

function startController(kubeconfig: string, logFile: string): ChildProcess {
  const log = openSync(logFile, 'w');
  const child = spawn(
    process.execPath,
    [
      ...[
        'dist/main.js',
        'controller',
        '--kubeconfig',
        kubeconfig,
        '--leader-elect=false',
        '--pod-gc-period=1s',
      ],
      ...['--metrics-bind-address=0', '--health-probe-bind-address=0'],
    ],
    { stdio: ['ignore', log, log] },
  );
  closeSync(log);
  return child;
}

async function stopController(controller: ChildProcess): Promise<void> {
  if (controller.exitCode !== null) return;
  const ended = once(controller, 'exit');
  controller.kill('SIGTERM');
  await ended;
}

interface LogLine {
  readonly msg?: string;
  readonly reason?: string;
  readonly pod?: { readonly name: string };
}

const readLog = (file: string): LogLine[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
