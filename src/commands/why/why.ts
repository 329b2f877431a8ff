import { removedObject } from '../../agent/imagegc/records.ts';
import { readCollections, type Collection } from '../../kube/events/collected-events.ts';
import { listPages } from '../../kube/cache/list-watch.ts';
import { removedObjectsResource } from '../../kube/cache/removed-objects.ts';
import { ApiError, isNotFound } from '../../kube/http/transport.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { removedText, type RemovedFrom } from './removed.ts';
import { errorLine } from '../../runtime/errors.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { PersonConnection } from '../cli/connection.ts';
import { usingCluster } from '../cli/connect.ts';
import { exitCode, UsageError } from '../cli/exit.ts';
import { formatted } from '../cli/output.ts';
import { progressOf, type Progress } from '../cli/progress.ts';
import { readFacts, timeOf } from '../plan/plan.ts';
import { planUnits } from '../plan/units.ts';
import type { System } from '../cli/system.ts';
import type { WhyConfig } from './command.ts';
import type { NodeQuestion, Question } from './question.ts';
import { explain, type ExplanationDocument } from './explain.ts';
import type { Target } from './found.ts';
import { findTarget } from './target.ts';
import { whyTable } from './table.ts';

/** Explains one object; resolves with the exit code. Prints nothing before the whole answer is known. */
export async function runWhy(config: WhyConfig, system: System): Promise<number> {
  const question = await complete(config);
  const progress = progressOf(config.plan.progress, system.stderr);
  const explanation = await explained(question, { config, system, progress }).finally(() => {
    progress.end();
  });
  system.stdout(await formatted(config.output, explanation, () => whyTable(explanation)));
  return exitCode.ok;
}

interface Context {
  readonly config: WhyConfig;
  readonly system: System;
  readonly progress: Progress;
}

async function explained(
  question: Question,
  { config: { plan }, system, progress }: Context,
): Promise<ExplanationDocument> {
  if (
    question.kind !== 'pod' &&
    plan.snapshot === undefined &&
    plan.node === undefined &&
    plan.through === undefined
  )
    throw new Error(await reportedRemoval(question, nodeOnly(question, system), plan.kube));
  const namespace = question.kind === 'pod' ? question.namespace : undefined;
  const facts = await readFacts({ ...plan, filter: { namespace, selector: undefined } }, progress);
  const target = findTarget(question, facts);
  if (target.kind !== 'found') throw await absence(question, { target, facts, plan });
  progress.phase('planning');
  const given = { now: timeOf(plan, facts), kept: false, assumeElapsed: plan.assumeElapsed };
  return explain(planUnits(target.facts, { ...given, only: target.only }), target);
}

interface Absent {
  readonly target: Exclude<Target, { kind: 'found' }>;
  readonly facts: PlanFacts;
  readonly plan: WhyConfig['plan'];
}

/** The error for an object that is not there, or is not the only one: with what dustpan recorded about its removal. */
async function absence(question: Question, { target, facts, plan }: Absent): Promise<Error> {
  const { kind, message } = target;
  if (kind === 'ambiguous') return new UsageError([`why: ${message}`]);
  const isRead = (facts.unread?.length ?? 0) === 0;
  if (question.kind === 'image' && isRead)
    return new Error(removedText(question, removedBy(facts)) ?? message);
  if (plan.snapshot !== undefined) return new Error(message);
  return new Error(
    question.kind === 'pod'
      ? await collectedText(question, message, plan.kube)
      : await reportedRemoval(question, message, plan.kube),
  );
}

/** Adds the namespace to a question about a pod. */
async function complete({ question, plan }: WhyConfig): Promise<Question> {
  if (plan.snapshot !== undefined || question.kind !== 'pod' || question.namespace !== undefined)
    return question;
  return { ...question, namespace: await currentNamespace(plan.kube) };
}

/** The removals of images that the state files of the nodes record. */
const removedBy = ({ parts }: PlanFacts): readonly RemovedFrom[] =>
  parts.map(({ name, state: { removed } }) => ({ name, removed: removed.map(removedObject) }));

/** The message about a missing object, or when, where and why dustpan removed it, by the reports of the nodes. */
async function reportedRemoval(
  question: NodeQuestion,
  message: string,
  kube: PersonConnection,
): Promise<string> {
  const { signal } = new AbortController();
  const resource = removedObjectsResource(question.node);
  return await usingCluster(kube, async ({ transport }) => {
    const source = { transport, clock, random: Math.random, resource };
    const nodes: RemovedFrom[] = [];
    try {
      for await (const { items } of listPages(source, signal)) nodes.push(...items);
    } catch (err) {
      if (isNotFound(err)) return message;
      if (err instanceof ApiError)
        return `${message}; the reports of nodes cannot be read: ${errorLine(err)}`;
      throw new Error('listing nodegcreports', { cause: err });
    }
    return removedText(question, nodes) ?? message;
  });
}

function nodeOnly({ kind, text }: NodeQuestion, { program }: System): string {
  return `${kind}s are known only on their node: run ${program} why ${kind} ${text} --node=NODE, which reads it through the pod of its agent`;
}

/** The namespace that kubectl would use. */
const currentNamespace = (kube: PersonConnection): Promise<string> =>
  usingCluster(kube, ({ namespace = 'default' }) => Promise.resolve(namespace));

/** The message about a missing pod, with what the Events report about its deletion or eviction, in one line. */
async function collectedText(
  { namespace = 'default', name }: Extract<Question, { kind: 'pod' }>,
  message: string,
  kube: PersonConnection,
): Promise<string> {
  const { signal } = new AbortController();
  let collections: readonly Collection[];
  try {
    collections = await usingCluster(kube, ({ transport }) => readCollections(transport, namespace, signal));
  } catch (err) {
    return `${message}; dustpan's Events in namespace ${namespace} cannot be read: ${errorLine(err)}`;
  }
  const sure = collections.find(({ names }) => names.includes(name));
  const likely = collections.find(({ more, owner }) => more > 0 && name.startsWith(`${owner.name}-`));
  if (sure !== undefined)
    return `pod ${namespace}/${name} is gone: dustpan ${sure.verb} it at ${sure.at} (${sure.note})`;
  if (likely === undefined)
    return `${message}; no Event of dustpan is about it: the API server keeps Events for an hour by default`;
  return `there is no pod ${namespace}/${name}, or not any more; dustpan deleted pods of ${likely.owner.kind} ${likely.owner.name} at ${likely.at}, maybe this one too (${likely.note})`;
}
