import { readCollections, type Collection } from '../../kube/events/collected-events.ts';
import { removedObjectsResource } from '../../kube/cache/removed-objects.ts';
import { asObject, asObjects, asText, parseJson } from '../../kube/codec/json.ts';
import { ApiError, isDenied, isNotFound } from '../../kube/http/transport.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import { readRemovals } from '../../snapshot/directory.ts';
import {
  podRemovalOf,
  removalsOf,
  type Removal,
  type RemovedFrom,
  removedImage,
} from '../../evaluation/why/removed.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { PersonConnection } from '../../process/connection.ts';
import { usingCluster } from '../../process/connect.ts';
import { exitCode, UsageError } from '../../process/exit.ts';
import { listObjects } from '../../process/list-objects.ts';
import { formatted } from '../../process/output.ts';
import { progressOf, type Progress } from '../../process/progress.ts';
import { readFacts, timeOf } from '../../evaluation/plan/plan.ts';
import { planUnits } from '../../evaluation/plan/units.ts';
import type { System } from '../../process/system.ts';
import { proseWidth } from '../../process/table.ts';
import type { WhyConfig } from './command.ts';
import type { NodeQuestion, Question } from '../../evaluation/why/question.ts';
import { answer, explain, type ExplanationDocument } from '../../evaluation/why/explain.ts';
import { askedObject, unread, type AskedPod, type Target } from '../../evaluation/why/found.ts';
import { findTarget } from '../../evaluation/why/target.ts';
import { whyTable } from './table.ts';
import type { PlanInputs } from '../../evaluation/plan/inputs.ts';

/** Explains one object; resolves with the exit code. Prints nothing before the whole answer is known. */
export async function runWhy(given: WhyConfig, { stdout, stderr, program }: System): Promise<number> {
  const config = await complete(given);
  const progress = progressOf(config.plan.progress, stderr);
  const explanation = await explained(config, program, progress).finally(() => progress.end());
  stdout(await formatted(config.output, explanation, () => whyTable(explanation, proseWidth()), { stderr }));
  return exitCode.ok;
}

async function explained(
  { plan, question }: WhyConfig,
  program: string,
  progress: Progress,
): Promise<ExplanationDocument> {
  if (question.kind !== 'pod' && hasNoSource(plan))
    return gone(question, plan, unread(nodeOnly(question, program)), undefined);
  const namespace = question.kind === 'pod' ? question.namespace : undefined;
  const facts = await readFacts({ ...plan, filter: { namespace, selector: undefined } }, progress);
  const target = findTarget(question, facts);
  if (target.kind === 'ambiguous') throw new UsageError([target.message]);
  if (target.kind !== 'found') return gone(question, plan, target, facts);
  progress.phase('planning');
  const options = { now: timeOf(plan, facts), kept: false, assumeElapsed: plan.assumeElapsed };
  return explain(planUnits(target.facts, { ...options, only: target.only }), target);
}

/**
 * Explains an object that is not there by the records that dustpan removed it; throws the message if there is none. `facts` undefined = nothing
 * was read.
 */
async function gone(
  question: Question,
  plan: PlanInputs,
  target: Exclude<Target, { kind: 'found' }>,
  facts: PlanFacts | undefined,
): Promise<ExplanationDocument> {
  const { removed, remark } = await recorded(question, plan, facts);
  if (removed.length === 0)
    throw new Error(remark === undefined ? target.message : `${sentence(target.message)} ${remark}`);
  const { notes = [] } = facts ?? {};
  return answer({
    generatedAt: formatRfc3339(timeOf(plan, facts ?? {})),
    object: askedObject(question),
    explanations: [],
    removed,
    notes: target.kind === 'unread' ? [...notes, `It may be there again: ${target.message}.`] : notes,
  });
}

/** A guess ends with a question mark. */
const sentence = (message: string): string => (message.endsWith('?') ? message : `${message}.`);

interface Recorded {
  readonly removed: readonly Removal[];
  readonly remark?: string;
}

async function recorded(
  question: Question,
  { snapshot, kube }: PlanInputs,
  facts: PlanFacts | undefined,
): Promise<Recorded> {
  if (question.kind === 'pod')
    return snapshot === undefined ? await collected(askedObject(question), kube) : { removed: [] };
  // State files list more images than reports do.
  const inStates = removalsOf(question, facts?.parts.map(removedFrom) ?? []);
  if (inStates.length > 0) return { removed: inStates };
  if (snapshot === undefined) {
    const found = await reported(question, kube);
    return facts === undefined ? found : { remark: noRecord, ...found };
  }
  return { removed: removalsOf(question, await readRemovals(snapshot)) };
}

/** Adds what the command line left out: the namespace of a pod, the node of another object if the cluster has a single one. */
async function complete(config: WhyConfig): Promise<WhyConfig> {
  const { question, plan } = config;
  if (question.kind === 'pod')
    return plan.snapshot !== undefined || question.namespace !== undefined
      ? config
      : { ...config, question: { ...question, namespace: await currentNamespace(plan.kube) } };
  const node = hasNoSource(plan) ? await onlyNode(plan.kube) : undefined;
  return node === undefined
    ? config
    : { ...config, question: { ...question, node }, plan: { ...plan, through: [node] } };
}

/** Whether no option names where the objects on nodes are read. */
const hasNoSource = ({ snapshot, node, through }: PlanInputs): boolean =>
  (snapshot ?? node ?? through) === undefined;

/** The removals of images that the state file of a node records. */
const removedFrom = ({ name, state: { removed } }: NodePart): RemovedFrom => ({
  name,
  removed: removed.map(removedImage),
});

/** The removals of an object, by the reports of the nodes in the cluster. */
async function reported(question: NodeQuestion, kube: PersonConnection): Promise<Recorded> {
  const { signal } = new AbortController();
  const resource = removedObjectsResource(question.node);
  return await usingCluster(kube, async ({ transport }) => {
    let nodes: readonly RemovedFrom[];
    try {
      nodes = await listObjects({ transport, resource }, signal);
    } catch (err) {
      if (isNotFound(err)) return { removed: [] };
      if (err instanceof ApiError)
        return { removed: [], remark: `The reports of nodes cannot be read: ${errorLine(err)}` };
      throw new Error('listing nodegcreports', { cause: err });
    }
    return { removed: removalsOf(question, nodes) };
  });
}

const noRecord =
  'No agent has a record of its removal: an agent keeps the last ten removed images for a day, and the last ten removed containers. The kubelet also removes images and containers, without a record';

const nodeOnly = ({ kind, text }: NodeQuestion, program: string): string =>
  `${kind === 'sandbox' ? 'sandboxe' : kind}s are known only on their node: run ${program} why ${kind} ${text} --node=NODE, which reads it through the pod of its agent${kind === 'image' ? `. '${program} top images -o name' lists the largest with their nodes` : ''}`;

const currentNamespace = (kube: PersonConnection): Promise<string> =>
  usingCluster(kube, ({ connection: { namespace = 'default' } }) => Promise.resolve(namespace));

/** undefined = the cluster has several nodes, or they may not be listed. */
const onlyNode = (kube: PersonConnection): Promise<string | undefined> =>
  usingCluster(kube, async ({ transport }) => {
    const { signal } = new AbortController();
    try {
      const request = { method: 'GET', path: '/api/v1/nodes', query: { limit: '2' } } as const;
      const { body } = await transport.send(request, signal);
      const [first, ...others] = asObjects(asObject(parseJson(body))['items']);
      return others.length > 0 ? undefined : asText(asObject(first?.['metadata'])['name']) || undefined;
    } catch (err) {
      if (isDenied(err)) return undefined;
      throw new Error('listing nodes', { cause: err });
    }
  });

/** The deletion or eviction of a pod, by the Events in its namespace. */
async function collected(pod: AskedPod, kube: PersonConnection): Promise<Recorded> {
  const { namespace, name } = pod;
  const { signal } = new AbortController();
  let collections: readonly Collection[];
  try {
    collections = await usingCluster(kube, ({ transport }) => readCollections(transport, namespace, signal));
  } catch (err) {
    const remark = `The Events of dustpan in namespace ${namespace} cannot be read: ${errorLine(err)}`;
    return { removed: [], remark };
  }
  const sure = collections.find(({ names }) => names.includes(name));
  if (sure !== undefined) return { removed: [podRemovalOf(sure, pod)] };
  const likely = collections.find(
    ({ more, lastAt, owner }) => (more > 0 || lastAt !== undefined) && name.startsWith(`${owner.name}-`),
  );
  return { removed: [], remark: remarkOn(likely) };
}

const remarkOn = (likely: Collection | undefined): string =>
  likely === undefined
    ? "No Event of dustpan is about it: the API server keeps Events for an hour by default, and dustpan writes a limited number of them. The controller's log names each deleted pod"
    : `dustpan deleted pods of ${likely.owner.kind} ${likely.owner.name} at ${likely.at}${untilText(likely)}, maybe this one too (${likely.note}). The controller's log names each deleted pod`;

/** The later passes, whose pods the Event does not name. */
const untilText = ({ lastAt }: Collection): string =>
  lastAt === undefined
    ? ''
    : ` and in later passes until at least ${lastAt}, whose pods the Event does not name`;
