import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import { nearest } from '../../runtime/text/nearest.ts';
import { partText, type NodePart, type PlanFacts, type PodPart } from '../../snapshot/plan-facts.ts';
import type { NodeQuestion, Question } from './question.ts';
import { findContainer } from './container.ts';
import { askedObject, missing, namesOf, unread, type Found, type Target } from './found.ts';
import { findImage } from './image.ts';
import { nodeNamed } from './node.ts';

export function findTarget(question: Question, facts: PlanFacts): Target {
  if (question.kind === 'pod') return findPod(question, withRequestsFor(question, facts));
  const { node } = question;
  const parts = node === undefined ? facts.parts : facts.parts.filter(({ name }) => name === node);
  if (parts.length === 0) {
    const why = unreadText(node, facts) ?? notRead(node, facts.parts);
    return isListed(question, facts) ? unreadNode(question, facts, why) : unread(why);
  }
  const narrowed = { ...facts, parts, reports: [] };
  switch (question.kind) {
    case 'image':
      return findImage(question, narrowed);
    case 'node':
      return {
        kind: 'found',
        object: askedObject(question),
        facts: narrowed,
        only: ({ kind }) => kind === 'Node',
      };
    default:
      return findContainer(question, narrowed);
  }
}

const isListed = ({ kind, text }: NodeQuestion, facts: PlanFacts): boolean =>
  kind === 'node' && nodeNamed(text, facts) !== undefined;

/** A node of which only the API server's object is known, and its pods. */
function unreadNode(question: NodeQuestion, facts: PlanFacts, why: string): Found {
  const notes = [...facts.notes, `The objects on the node are not known: ${why}.`];
  return {
    kind: 'found',
    object: askedObject(question),
    facts: { ...facts, notes, parts: [], reports: [], unread: [], usage: undefined, moreNodes: undefined },
    only: ({ kind }) => kind === 'Node',
  };
}

/** Keeps only the reports that request the eviction of a pod with this name; notes on others have nothing to do with it. */
function withRequestsFor({ name }: Extract<Question, { kind: 'pod' }>, facts: PlanFacts): PlanFacts {
  const isRequesting = ({ requests }: NodeReportFacts) => requests.some(({ pod }) => pod.name === name);
  return { ...facts, reports: facts.reports.filter(isRequesting), usage: undefined, moreNodes: undefined };
}

/** Why the requested node was not read, and what its agent reports instead; undefined = no node was requested. */
function unreadText(node: string | undefined, facts: PlanFacts): string | undefined {
  const { reports } = facts;
  const failed = facts.unread?.find(({ name }) => name === node);
  if (failed === undefined) return undefined;
  const report = reports.find(({ name }) => name === node);
  return `node ${failed.name} was not read: ${failed.problem}${report === undefined ? '' : `. ${reportText(report)}`}`;
}

const reportText = ({ imagesRemovable, imageBytesRemovable, containersRemovable }: NodeReportFacts): string =>
  `Its agent reports that ${imagesRemovable} images (${shortSizeText(imageBytesRemovable)}) and ${containersRemovable} containers can be removed, due now or not`;

function notRead(node: string | undefined, parts: readonly NodePart[]): string {
  const names = namesOf(parts);
  if (node === undefined || names === '')
    return 'no node was read: a snapshot contains the objects on a node only if it was taken there, with --cri-socket';
  return `node ${node} was not read, only ${names}`;
}

function findPod(question: Extract<Question, { kind: 'pod' }>, facts: PlanFacts): Target {
  const object = askedObject(question);
  const { namespace, name } = object;
  const { pods, part } = facts;
  if (pods === undefined) return unread('pods are not known: the snapshot has no pods.json');
  const sameName: PodFacts[] = [];
  for (const pod of pods.values()) if (pod.name === name) sameName.push(pod);
  if (!sameName.some((pod) => pod.namespace === namespace))
    return missing(`${absenceText({ namespace, name }, part)}${hint({ namespace, name }, sameName, pods)}`);
  return {
    kind: 'found',
    object,
    facts,
    only: (about, verdict) =>
      about.kind === 'Pod'
        ? about.name === name && about.namespace === namespace
        : verdict === 'Warn' && about.pod === `${namespace}/${name}`,
  };
}

type PodName = Pick<PodFacts, 'namespace' | 'name'>;

/** A part that has every pod of the namespace proves that the pod does not exist. */
const absenceText = ({ namespace, name }: PodName, part: PodPart | undefined): string =>
  part === undefined || (part.namespace === namespace && part.selector === undefined)
    ? `there is no pod ${namespace}/${name}, or not any more`
    : `the snapshot does not have pod ${namespace}/${name}, which may exist: it has only the pods${partText(part)}`;

function hint(
  { namespace, name }: PodName,
  sameName: readonly PodFacts[],
  pods: ReadonlyMap<string, PodFacts>,
): string {
  const [elsewhere] = sameName;
  if (elsewhere !== undefined) return `; there is ${elsewhere.namespace}/${name}`;
  const names: string[] = [];
  for (const pod of pods.values()) if (pod.namespace === namespace) names.push(pod.name);
  const guess = nearest(name, names);
  return guess === undefined ? '' : `; did you mean ${namespace}/${guess}?`;
}
