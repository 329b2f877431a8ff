import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import { formatted } from '../cli/output.ts';
import type { PlanInputs } from '../plan/command.ts';
import { Progress } from '../cli/progress.ts';
import { worldOf } from '../plan/plan.ts';
import { planWorld } from '../plan/world.ts';
import type { System } from '../cli/system.ts';
import type { Question, WhyConfig } from './command.ts';
import { explain, type ExplanationDocument } from './explain.ts';
import { collectedText, currentNamespace } from './live.ts';
import { findTarget } from './target.ts';
import { whyTable } from './table.ts';

/** Explains one object; resolves with the exit code. Prints nothing before the whole answer is known. */
export async function runWhy(config: WhyConfig, system: System): Promise<number> {
  const { plan } = config;
  const question = await complete(config, system);
  const progress = new Progress(process.stderr.isTTY ? system.stderr : undefined, clock);
  const explanation = await explained(question, config, progress).finally(() => {
    progress.end();
  });
  system.stdout(await formatted(plan.output, explanation, () => whyTable(explanation)));
  return exitCode.ok;
}

async function explained(
  question: Question,
  { plan }: WhyConfig,
  progress: Progress,
): Promise<ExplanationDocument> {
  const target = findTarget(question, await worldOf(plan, progress));
  if (target.kind !== 'found') {
    if (target.kind === 'ambiguous') throw new UsageError([`why: ${target.message}`]);
    throw new Error((await collectedNote(question, plan)) ?? target.message);
  }
  progress.phase('planning');
  const { now = clock.now(), assumeElapsed } = plan;
  return explain(planWorld(target.world, { now, kept: false, assumeElapsed, only: target.only }), target);
}

/** Adds the namespace to a question about a pod; rejects a question that cannot be answered on this machine. */
async function complete({ question, plan }: WhyConfig, system: System): Promise<Question> {
  if (plan.snapshot !== undefined) return question;
  if (question.kind === 'pod')
    return question.namespace === undefined
      ? { ...question, namespace: await currentNamespace(plan.kube) }
      : question;
  if (plan.node === undefined) throw new Error(nodeOnly(question, system));
  return question;
}

/** What the Events of a cluster report about a pod that is gone. */
const collectedNote = async (
  question: Question,
  { snapshot, kube }: PlanInputs,
): Promise<string | undefined> =>
  snapshot === undefined && question.kind === 'pod' ? collectedText(question, kube) : undefined;

function nodeOnly({ kind, text }: Exclude<Question, { kind: 'pod' }>, { program }: System): string {
  const command = `${program} why ${kind} ${text} --node-name=NODE --cri-socket=/run/containerd/containerd.sock`;
  return `${kind}s are known only on their node: run ${command} there, or pass a snapshot taken there with --snapshot`;
}
