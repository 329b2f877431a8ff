import { hasTaintLeft, isOutOfService, removeTaint, taintLeftText } from '../../controllers/podgc/nodes.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import type { Decision } from '../plan/document.ts';
import { stuckIn } from '../plan/stuck.ts';
import { nodeTroubles, type Trouble } from '../installation/trouble.ts';

/** What the API server knows of a node, as far as it matters to dustpan. */
export interface NodeView {
  readonly ready: boolean;
  readonly read: boolean;
  /** Whether the conditions in a report of its agent are known. */
  readonly reported: boolean;
  /** Its problems as dustpan status lists them, worst first. */
  readonly problems: readonly Trouble[];
  /** What its out-of-service taint does; null = it has none. */
  readonly taint: string | null;
  /** How to remove a taint that stayed; null = none did. */
  readonly advice: string | null;
  readonly command: string | null;
  /** Its stuck pods, longest first, as `namespace/name`. */
  readonly stuckPods: readonly string[];
}

/** The node of this name; undefined = it is not known. */
export const nodeNamed = (name: string, { nodes }: Pick<PlanFacts, 'nodes'>): NodeFacts | undefined =>
  [...(nodes?.values() ?? [])].find((node) => node.name === name);

/** Describes a node by its own object and its pods; undefined = it is not known. */
export function nodeView(
  name: string,
  facts: PlanFacts,
  decisions: readonly Decision[],
  now: Date,
): NodeView | undefined {
  const node = nodeNamed(name, facts);
  if (node === undefined) return undefined;
  const reports = facts.nodeStates?.filter(({ metadata }) => metadata?.name === name) ?? [];
  const stuck = stuckIn(facts, decisions, now, ({ nodeName }) => nodeName === name);
  return {
    ready: node.ready,
    read: facts.parts.length > 0,
    reported: reports.some(({ status }) => status?.conditions !== undefined),
    problems: nodeTroubles({ nodes: [node], reports }, now),
    ...taintOf(node),
    stuckPods: stuck.map(({ pod }) => `${pod.namespace}/${pod.name}`),
  };
}

function taintOf(node: NodeFacts): Pick<NodeView, 'taint' | 'advice' | 'command'> {
  const { name } = node;
  if (hasTaintLeft(node))
    return { taint: taintLeftText(name), advice: 'Remove the taint', command: removeTaint(name) };
  const taint = isOutOfService(node)
    ? 'It has the out-of-service taint: a GCPolicy in mode Enforce with pods.outOfService deletes its terminating pods.'
    : null;
  return { taint, advice: null, command: null };
}
