import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import { formatted } from '../cli/output.ts';
import type { PlanInputs } from '../plan/command.ts';
import { Progress } from '../plan/progress.ts';
import { worldOf } from '../plan/plan.ts';
import { planWorld } from '../plan/world.ts';
import type { System } from '../cli/system.ts';
import type { Question, WhyConfig } from './command.ts';
import { explain, type ExplanationDocument } from './explain.ts';
import { collectedText, currentNamespace } from './live.ts';
import { findTarget } from './target.ts';
import { whyTable } from './table.ts';

/** Explains one object; resolves with the exit code. Nothing is printed before all of it is known. */
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
  if (target.kind === 'ambiguous') throw new UsageError([`why: ${target.message}`]);
  if (target.kind === 'missing') throw new Error((await collected(question, plan)) ?? target.message);
  progress.phase('planning');
  const { now = clock.now(), assumeElapsed } = plan;
  return explain(planWorld(target.world, { now, kept: false, assumeElapsed, asked: target.asked }), target);
}

/** The question with all that can be said before anything is read; rejects one that has no answer from here. */
async function complete({ question, plan }: WhyConfig, system: System): Promise<Question> {
  if (plan.snapshot !== undefined) return question;
  if (question.kind === 'pod')
    return question.namespace === undefined
      ? { ...question, namespace: await currentNamespace(plan.kube) }
      : question;
  if (plan.node === undefined) throw new Error(nodeOnly(question, system));
  return question;
}

/** What the cluster still tells of a pod that is not there. */
const collected = async (question: Question, { snapshot, kube }: PlanInputs): Promise<string | undefined> =>
  snapshot === undefined && question.kind === 'pod' ? collectedText(question, kube) : undefined;

function nodeOnly({ kind, text }: Exclude<Question, { kind: 'pod' }>, { program }: System): string {
  const command = `${program} why ${kind} ${text} --node-name=NODE --cri-socket=/run/containerd/containerd.sock`;
  return `${kind}s are seen on their node only: run there ${command}, or give a snapshot taken there with --snapshot`;
}
