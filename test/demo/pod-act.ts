import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decisionsOf, type PodGcPlan } from '../../src/controllers/podgc/facts.ts';
import { fill } from './fill.ts';
import { podMeaning } from './meaning.ts';
import { mess, podName, policy } from './mess.ts';
import { Program } from './program.ts';
import { bold, countBy, dim, green, red, sideBySide, table } from './screen.ts';
import { patienceMs, type Stage } from './stage.ts';
import { look } from './view.ts';

/** A day's mess of pods and how the controller cleans it, which goes on running; resolves with whether it went as it should. */
export async function podAct(stage: Stage): Promise<boolean> {
  await makeMess(stage);
  const controller = stage.started(startController(stage));
  await showDryRun(stage);
  const before = await showEnforce(stage, controller);
  return reckon(stage, before, controller);
}

/** The pods, and the policy for them in DryRun. */
export async function makeMess({ screen, send }: Stage): Promise<void> {
  await send('POST', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies', policy('DryRun'));
  const pods = await fill(send);
  screen.say(`made ${pods} pods; node-7 vanished under three of them, node-6 is out of service`);
  screen.say();
}

/** The controller, as a user starts it, but with a pass each second. */
export function startController({ kubeconfig, directory }: Stage): Program {
  const args = ['controller', '--kubeconfig', kubeconfig, '--leader-elect=false', '--pod-gc-period=1s'];
  const noServers = ['--metrics-bind-address=0', '--health-probe-bind-address=0'];
  return new Program([...args, ...noServers], join(directory, 'controller.log'));
}

/** Long enough to see that nothing happens. */
async function showDryRun(stage: Stage): Promise<void> {
  const { screen } = stage;
  screen.say(
    `${bold('mode DryRun')} ${dim('(the default): everything is decided and counted, nothing is touched')}`,
  );
  const before = await see(stage);
  const until = Date.now() + 6_000;
  while (Date.now() < until) {
    screen.frame(planLines(await see(stage)));
    await sleep(500);
  }
  const after = await see(stage);
  screen.settle(planLines(after));
  if (podNames(after).join() !== podNames(before).join()) throw new Error('DryRun touched a pod');
  screen.say(green(`after 6 s all ${podNames(after).length} pods are still there`));
  screen.say();
}

/** Until nothing is due any more. Resolves with the pods there were. */
async function showEnforce(stage: Stage, controller: Program): Promise<readonly string[]> {
  const { screen, send } = stage;
  screen.say(bold('mode Enforce'));
  screen.say(dim(`  kubectl patch gcpolicy default --type merge -p '{"spec":{"mode":"Enforce"}}'`));
  const before = podNames(await see(stage));
  await send('PATCH', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies/default', policy('Enforce'));
  const until = Date.now() + patienceMs;
  for (;;) {
    const plan = await see(stage);
    const left = podNames(plan);
    const lines = [`  ${left.length} of ${before.length} pods left`, ...planLines(plan)];
    const waiting = [...plan.kept].some(({ reason }) => reason === 'Quarantined');
    if (plan.deletions.length === 0 && !waiting) {
      screen.settle(lines);
      return before;
    }
    controller.check();
    if (Date.now() > until)
      throw new Error(`still due: ${plan.deletions.map(({ target }) => target.name).join(', ')}`);
    screen.frame(lines);
    await sleep(200);
  }
}

/** The reckoning, group by group: what the controller's own log says went, what is left and why. */
async function reckon(stage: Stage, before: readonly string[], controller: Program): Promise<boolean> {
  const { screen } = stage;
  const plan = await see(stage);
  const left = podNames(plan);
  const gone = before.filter((name) => !left.includes(name));
  const went = await reasonsOf(controller, gone);
  const stays = new Map<string, string>([...plan.kept].map(({ target, reason }) => [target.name, reason]));
  screen.say();
  screen.say(bold('which pods went, which stayed, and why'));
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
  screen.explain(podMeaning, new Set([...went.values(), ...stays.values(), 'Quarantined']));
  screen.say();
  return verdict(stage, { before, gone, went, left });
}

/** Reasons by name, once its log tells of all that are gone: a pod is gone a moment before the answer to its DELETE is logged. */
async function reasonsOf(controller: Program, gone: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const deletions = controller.log.filter(({ msg }) => msg === 'deleted pod');
    const went = new Map(deletions.map(({ pod, reason }) => [pod?.name ?? '', reason ?? '']));
    if (gone.every((name) => went.has(name)) || Date.now() > until) return went;
    await sleep(200);
  }
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
  readonly gone: readonly string[];
  /** Reasons by name. */
  readonly went: ReadonlyMap<string, string>;
  readonly left: readonly string[];
}

function verdict({ screen }: Stage, { before, gone, went, left }: Sums): boolean {
  const unexplained = gone.filter((name) => !went.has(name));
  if (unexplained.length > 0) {
    screen.say(red(`gone without a word: ${unexplained.join(', ')}`));
    return false;
  }
  screen.say(
    green(`${before.length} pods before, ${went.size} deleted, ${left.length} left; each with a reason`),
  );
  return true;
}

const see = ({ transport, signal }: Stage): Promise<PodGcPlan> => look(transport, signal);

const planLines = (plan: PodGcPlan): string[] =>
  sideBySide(
    plan.deletions.map(({ reason }) => reason),
    [...plan.kept].map(({ reason }) => reason),
  );

const podNames = (plan: PodGcPlan): string[] =>
  [...decisionsOf(plan)].map(({ target }) => target.name).sort();
