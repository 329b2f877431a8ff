import { readCollections, type Collection } from '../../kube/events/collected-events.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { PersonConnection } from '../cli/connection.ts';
import { usingCluster } from '../cli/connect.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import { formatted } from '../cli/output.ts';
import { Progress } from '../cli/progress.ts';
import { readFacts } from '../plan/plan.ts';
import { planUnits } from '../plan/units.ts';
import type { System } from '../cli/system.ts';
import type { Question, WhyConfig } from './command.ts';
import { explain, type ExplanationDocument } from './explain.ts';
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
  const target = findTarget(question, await readFacts(plan, progress));
  if (target.kind !== 'found') {
    if (target.kind === 'ambiguous') throw new UsageError([`why: ${target.message}`]);
    const isLivePod = plan.snapshot === undefined && question.kind === 'pod';
    const collected = isLivePod ? await collectedText(question, plan.kube) : undefined;
    throw new Error(collected ?? target.message);
  }
  progress.phase('planning');
  const { now = clock.now(), assumeElapsed } = plan;
  return explain(planUnits(target.facts, { now, kept: false, assumeElapsed, only: target.only }), target);
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

function nodeOnly({ kind, text }: Exclude<Question, { kind: 'pod' }>, { program }: System): string {
  const command = `${program} why ${kind} ${text} --node-name=NODE --cri-socket=/run/containerd/containerd.sock`;
  return `${kind}s are known only on their node: run ${command} there, or pass a snapshot taken there with --snapshot`;
}

/** The namespace that kubectl would use. */
const currentNamespace = (kube: PersonConnection): Promise<string> =>
  usingCluster(kube, ({ namespace = 'default' }) => Promise.resolve(namespace));

/** What the Events report about a pod that dustpan deleted or evicted, in one line; undefined = nothing, or they cannot be read. */
async function collectedText(
  { namespace = 'default', name }: Extract<Question, { kind: 'pod' }>,
  kube: PersonConnection,
): Promise<string | undefined> {
  const { signal } = new AbortController();
  const collections = await usingCluster(kube, ({ transport }) =>
    // Events are optional: without them the answer is only shorter.
    readCollections(transport, namespace, signal).catch((): readonly Collection[] => []),
  );
  const sure = collections.find(({ names }) => names.includes(name));
  const likely = collections.find(({ more, owner }) => more > 0 && name.startsWith(`${owner.name}-`));
  if (sure !== undefined)
    return `pod ${namespace}/${name} is gone: dustpan ${sure.verb} it at ${sure.at} (${sure.note})`;
  if (likely === undefined) return undefined;
  return `there is no pod ${namespace}/${name}, or not any more; dustpan deleted pods of ${likely.owner.kind} ${likely.owner.name} at ${likely.at}, maybe this one too (${likely.note})`;
}
