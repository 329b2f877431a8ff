import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { nearest } from '../../runtime/text/nearest.ts';
import type { NodePart, World } from '../../snapshot/world.ts';
import type { Question } from './command.ts';
import { findContainer } from './container.ts';
import { missing, type Target } from './found.ts';
import { findImage } from './image.ts';

/** Looks for what is asked about in a world that was read whole. */
export function findTarget(question: Question, world: World): Target {
  if (question.kind === 'pod') return findPod(question, askingAlone(question, world));
  const { node } = question;
  const parts = node === undefined ? world.parts : world.parts.filter(({ name }) => name === node);
  if (parts.length === 0) return missing(notLookedInto(node, world.parts));
  const looked = { ...world, parts, reports: [] };
  return question.kind === 'image' ? findImage(question, looked) : findContainer(question, looked);
}

/** Of the reports those alone that ask for the eviction of such a pod. */
function askingAlone({ name }: Extract<Question, { kind: 'pod' }>, world: World): World {
  const asks = ({ requests }: NodeReportFacts): boolean => requests.some(({ pod }) => pod.name === name);
  return { ...world, reports: world.reports.filter(asks) };
}

function notLookedInto(node: string | undefined, parts: readonly NodePart[]): string {
  const names = parts.map(({ name }) => name).join(', ');
  if (node === undefined || names === '')
    return 'no node was looked into: a snapshot has what is on a node when it was taken there, with --cri-socket';
  return `node ${node} was not looked into, only ${names}`;
}

/** What kubectl calls it where nobody says otherwise. */
const defaultNamespace = 'default';

function findPod(question: Extract<Question, { kind: 'pod' }>, world: World): Target {
  const { namespace = defaultNamespace, name } = question;
  const { pods } = world;
  if (pods === undefined) return missing('pods are not known: the snapshot has no pods.json');
  const sameName: PodFacts[] = [];
  for (const pod of pods.values()) if (pod.name === name) sameName.push(pod);
  if (!sameName.some((pod) => pod.namespace === namespace))
    return missing(
      `there is no pod ${namespace}/${name}, or not any more${hint({ namespace, name }, sameName, pods)}`,
    );
  return {
    kind: 'found',
    object: { kind: 'Pod', namespace, name },
    world,
    asked: (object) => object.kind === 'Pod' && object.name === name && object.namespace === namespace,
  };
}

function hint(
  { namespace, name }: Pick<PodFacts, 'namespace' | 'name'>,
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
