import type { V1Pod } from '@kubernetes/client-node';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { podReasons } from '../../../src/controllers/podgc/words.ts';
import { policiesPath, timeoutMs, type Context } from '../context.ts';
import { plan, Program, reasonsOf, type Plan } from '../program.ts';
import { bold, dim, green, outcomeTable, red, sideBySide } from '../screen.ts';
import { createPods } from './create.ts';
import { groups, podName, policy } from './objects.ts';

/** Shows how the controller deletes finished, orphaned and stuck pods; resolves with whether each group had the expected outcome, for a reason. */
export async function podPart(context: Context): Promise<boolean> {
  await preparePods(context);
  const controller = context.started(startController(context));
  await showDryRun(context);
  const before = await showEnforce(context, controller);
  return await showResult(context, before, controller);
}

/** Creates the pods, and their policy in DryRun. */
export async function preparePods({ screen, send }: Context): Promise<void> {
  await send('POST', policiesPath, policy('DryRun'));
  const pods = await createPods(send);
  screen.print(`made ${pods} pods; node-7 vanished under three of them, node-6 is out of service`);
  screen.print();
}

/** Starts the controller as a user does, but with a pass each second. */
export function startController({ env, directory }: Context): Program {
  const args = ['controller', '--leader-elect=false', '--pod-gc-period=1s'];
  const noServers = ['--metrics-bind-address=0', '--health-probe-bind-address=0'];
  return new Program([...args, ...noServers], join(directory, 'controller.log'), env);
}

/** Long enough for several passes. */
const dryRunMs = 6_000;

async function showDryRun({ screen, env }: Context): Promise<void> {
  screen.print(
    `${bold('mode DryRun')} ${dim('(the default): everything is decided and counted, nothing is touched')}`,
  );
  const before = namesIn(await plan(env));
  const endMs = Date.now() + dryRunMs;
  while (Date.now() < endMs) screen.frame(planLines(await plan(env)));
  const after = await plan(env);
  screen.lastFrame(planLines(after));
  if (namesIn(after).join() !== before.join()) throw new Error('DryRun touched a pod');
  screen.print(green(`after ${dryRunMs / 1_000} s all ${before.length} pods are still there`));
  screen.print();
}

/** Waits until no pod is due; resolves with the names of the pods before. */
async function showEnforce({ screen, send, env }: Context, controller: Program): Promise<readonly string[]> {
  screen.print(bold('mode Enforce'));
  screen.print(dim(`  kubectl patch gcpolicy default --type merge -p '{"spec":{"mode":"Enforce"}}'`));
  const before = namesIn(await plan(env));
  await send('PATCH', `${policiesPath}/default`, policy('Enforce'));
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const now = await plan(env);
    const lines = [`  ${namesIn(now).length} of ${before.length} pods left`, ...planLines(now)];
    if (now.due.length === 0) {
      screen.lastFrame(lines);
      return before;
    }
    controller.check();
    if (Date.now() > deadlineMs)
      throw new Error(`still due: ${now.due.map(({ object }) => object.name).join(', ')}`);
    screen.frame(lines);
  }
}

/** What is lost, and what should be gone, by the pods that the API server has. */
function podProblems(names: readonly string[]): readonly string[] {
  const there = new Set(names);
  return groups.flatMap((group) => {
    const found = Array.from({ length: group.count }, (_, i) => podName(group, i)).filter((name) =>
      there.has(name),
    );
    const missing = group.left - found.length;
    if (missing === 0) return [];
    return [
      `${missing > 0 ? 'lost' : 'still there'}: ${group.name} (${Math.abs(missing)} of ${group.count})`,
    ];
  });
}

/** Shows the outcome of each group of pods, with the reasons in the controller's log and in the plan. */
async function showResult(
  { screen, env, send }: Context,
  before: readonly string[],
  controller: Program,
): Promise<boolean> {
  const { kept } = await plan(env);
  const keptFor = new Map(kept.map(({ object, reason }) => [object.name ?? '', reason]));
  const gone = before.filter((name) => !keptFor.has(name));
  const deletedFor = await loggedDeletions(controller, gone);
  screen.print();
  screen.print(bold('which pods were deleted, which were kept, and why'));
  const outcomes = groups.flatMap((group) =>
    Array.from({ length: group.count }, (_, index) => {
      const name = podName(group, index);
      const deleted = deletedFor.get(name);
      const outcome = deleted === undefined ? 'kept' : 'deleted';
      return { group: group.name, outcome, reason: deleted ?? keptFor.get(name) ?? 'unknown' };
    }),
  );
  for (const line of outcomeTable(outcomes)) screen.print(line);
  screen.print();
  screen.explain(podReasons, new Set(outcomes.map(({ reason }) => reason)));
  screen.print();
  const { items } = await send('GET', '/api/v1/pods');
  const problems = podProblems((items as readonly V1Pod[]).map(({ metadata }) => metadata?.name ?? ''));
  for (const problem of problems) screen.print(red(problem));
  if (problems.length > 0) return false;
  const unexplained = gone.filter((name) => !deletedFor.has(name));
  if (unexplained.length > 0) {
    screen.print(red(`deleted without a line in the log: ${unexplained.join(', ')}`));
    return false;
  }
  const sums = `${before.length} pods before, ${deletedFor.size} deleted, ${kept.length} left`;
  screen.print(green(`${sums}; each with a reason`));
  return true;
}

/** Reasons by name, as soon as the log has all these pods: a pod is gone a moment before its deletion is logged. */
async function loggedDeletions(
  controller: Program,
  gone: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const deletions = controller.log.filter(({ msg }) => msg === 'deleted pod');
    const deleted = new Map(deletions.map(({ pod, reason }) => [pod?.name ?? '', reason ?? '']));
    if (gone.every((name) => deleted.has(name)) || Date.now() > deadlineMs) return deleted;
    await sleep(200);
  }
}

const planLines = ({ due, kept }: Plan): string[] => sideBySide(reasonsOf(due), reasonsOf(kept));

const namesIn = ({ due, kept }: Plan): string[] =>
  [...due, ...kept].map(({ object }) => object.name ?? '').sort();
