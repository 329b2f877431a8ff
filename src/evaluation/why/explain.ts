import type { NodeGCReportStatusImagesPull } from '../../api/gen/nodegcreport.gen.ts';
import { boundImages, usedImages } from '../../agent/imagegc/uses.ts';
import { imageIndex } from '../../api/image-index.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { isStale } from '../../api/report/fresh.ts';
import type { Unit } from '../../gc/decision.ts';
import type { Meaning } from '../../gc/words.ts';
import { containerReasons } from '../../agent/containergc/words.ts';
import { evictionReasons } from '../../controllers/eviction/words.ts';
import { imageReasons } from '../../agent/imagegc/words.ts';
import { podReasons } from '../../controllers/podgc/words.ts';
import { leftoverReasons } from '../../agent/leftovers/words.ts';
import { storageReasons, storageWarnings } from '../../agent/localstorage/words.ts';
import { pressureReasons, pressureWarnings } from '../../agent/nodepressure/words.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import type { Decision, PlanDocument, PlanObject } from '../plan/document.ts';
import { stuckIn, type StuckView } from '../plan/stuck.ts';
import type { AskedObject, Found } from './found.ts';
import { nodeView, type NodeView } from './node.ts';
import type { Removal } from './removed.ts';

export interface Explanation extends Decision {
  /** The meaning of the reason for any object. */
  readonly sentence: string;
  /** What would reverse the verdict. */
  readonly change: string;
  /** What to know before reversing it; null = nothing. */
  readonly caution: string | null;
  /** Only for an image: everything on this node that needs it. */
  readonly heldBy?: readonly ImageUser[];
  /** Only for an image whose layers are known. */
  readonly onDisk?: ImageOnDisk;
}

/** The bytes of an image on the disk of its node. */
export interface ImageOnDisk {
  /** What no other image has, and what another has too; together they are all. */
  readonly uniqueBytes: number;
  readonly sharedBytes: number;
  /** Of all, the packed layers. */
  readonly packedBytes: number;
  /** What would remain if every image were removed: because of a lease, for example. */
  readonly held: readonly { readonly by: string; readonly bytes: number }[];
  /** Why its removal may free less or more; null = the bytes are exact. */
  readonly inexactBecause: string | null;
}

/** A container or a pod on a node that needs an image. */
export interface ImageUser {
  /** null = a pod that names the image and has no container made from it. */
  readonly container: { readonly id: string; readonly name: string; readonly state: string } | null;
  /** `namespace/name`; null = not known. */
  readonly pod: string | null;
}

/** The answer, as `why -o json` prints it: fields are added, never renamed. */
export interface ExplanationDocument {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Explanation';
  readonly generatedAt: string;
  readonly object: AskedObject;
  /** One for each unit and node that decides about the object; the verdict that acts is first. */
  readonly explanations: readonly Explanation[];
  /** The records that dustpan removed the object, latest first; [] where the object is there. `notes` says so where it may be there again. */
  readonly removed: readonly Removal[];
  /** Only of a pod that makes no progress. */
  readonly stuck?: StuckView | undefined;
  /** Only of a node that the API server or the snapshot lists. */
  readonly node?: NodeView | undefined;
  /** Images that the pod, or pods of the node, wait for, by the report of the node of that time; null = it has none. */
  readonly pulls?:
    readonly (NodeGCReportStatusImagesPull & { readonly reportTime: string | null })[] | undefined;
  /** No controller acts now, so no pod is removed. */
  readonly idle?: true | undefined;
  /** Facts that limit the answer, one sentence each. */
  readonly notes: readonly string[];
}

export function explain(plan: PlanDocument, { object, facts, path }: Found): ExplanationDocument {
  const { generatedAt, idle, notes } = plan;
  const explanations = nearestTo(path, plan.decisions)
    .map((decision) => explanationOf(decision, facts))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  const stuck = stuckView(object, facts, plan);
  const node =
    object.kind === 'Node' ? nodeView(object.text, facts, plan.decisions, new Date(generatedAt)) : undefined;
  const pulls = pullsOf(object, facts, new Date(generatedAt));
  return answer({ generatedAt, object, explanations, removed: [], stuck, node, pulls, idle, notes });
}

function pullsOf(
  object: AskedObject,
  { nodeStates = [], pods }: PlanFacts,
  now: Date,
): ExplanationDocument['pulls'] {
  const isAsked = (node: string | undefined, pull: NodeGCReportStatusImagesPull): boolean =>
    object.kind === 'Pod'
      ? pull.pods.includes(`${object.namespace}/${object.name}`)
      : object.kind === 'Node' && node === object.text;
  const hasStarted = [...(pods?.values() ?? [])].some(
    ({ namespace, name, phase }) =>
      object.kind === 'Pod' && namespace === object.namespace && name === object.name && phase !== 'Pending',
  );
  const pulls = nodeStates
    .filter(({ status }) => !hasStarted && !isStale(status?.reportTime, now))
    .flatMap(({ metadata, status: { reportTime = null, images } = {} }) =>
      (images?.pulls ?? [])
        .filter((pull) => isAsked(metadata?.name, pull))
        .map((pull) => ({ ...pull, reportTime })),
    );
  return pulls.length === 0 ? undefined : pulls;
}

function stuckView(
  object: AskedObject,
  facts: PlanFacts,
  { decisions, generatedAt }: PlanDocument,
): StuckView | undefined {
  if (object.kind !== 'Pod') return undefined;
  const isAsked = ({ namespace, name }: PodFacts): boolean =>
    namespace === object.namespace && name === object.name;
  return stuckIn(facts, decisions, new Date(generatedAt), isAsked)[0]?.view;
}

export const answer = (content: Omit<ExplanationDocument, 'apiVersion' | 'kind'>): ExplanationDocument => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'Explanation',
  ...content,
});

/** The verdict that acts is first, a warning next; of verdicts that keep, the one of a policy. */
function rankOf({ verdict, policy }: Decision): number {
  if (verdict === 'Keep') return policy === null ? 3 : 2;
  return verdict === 'Warn' ? 1 : 0;
}

/** Without the decision about the directory of a log that has its own. */
function nearestTo(path: string | undefined, decisions: readonly Decision[]): readonly Decision[] {
  const isExact = ({ object }: Decision): boolean => object.kind !== 'Pod' && object.path === path;
  if (path === undefined || !decisions.some(isExact)) return decisions;
  return decisions.filter((decision) => isExact(decision) || decision.verdict === 'Warn');
}

function explanationOf(decision: Decision, { parts, pods }: PlanFacts): Explanation {
  const { meaning, change, ...risk } = meaningOf(decision);
  const { object } = decision;
  // The risk of deleting a pod is that its containers may run.
  const pod = object.kind === 'Pod' ? pods?.get(object.uid) : undefined;
  const caution = (pod !== undefined && isFinished(pod) ? undefined : risk.caution) ?? null;
  const part = object.kind === 'Image' ? parts.find(({ name }) => name === object.node) : undefined;
  const { id = '' } = object.kind === 'Image' ? object : {};
  const onDisk = part && onDiskOf(id, part);
  return {
    ...decision,
    sentence: meaning,
    change,
    caution,
    ...(part && { heldBy: usersOf(id, part) }),
    ...(onDisk && { onDisk }),
  };
}

type Meanings = Readonly<Partial<Record<string, Meaning>>>;

const podMeanings: Readonly<Partial<Record<Unit, Meanings>>> = {
  podgc: podReasons,
  localstorage: { ...evictionReasons, ...storageReasons },
  nodepressure: { ...evictionReasons, ...pressureReasons },
};

const warnings: Readonly<Partial<Record<Unit, Meanings>>> = {
  localstorage: storageWarnings,
  containergc: containerReasons,
  nodepressure: pressureWarnings,
};

function meaningOf({ unit, verdict, reason, object, detail }: Decision): Meaning {
  const meanings = verdict === 'Warn' ? warnings[unit] : meaningsAbout(object, unit);
  return meanings?.[reason] ?? { meaning: detail, change: '' };
}

function meaningsAbout({ kind }: PlanObject, unit: Unit): Meanings | undefined {
  if (kind === 'Pod') return podMeanings[unit];
  if (kind === 'Leftover') return leftoverReasons;
  return kind === 'Image' ? imageReasons : containerReasons;
}

function onDiskOf(id: string, { space, containers = [] }: NodePart): ImageOnDisk | undefined {
  const bytes = space?.images.get(id);
  if (space === undefined || bytes === undefined) return undefined;
  const { unique, shared, packed, inexactBecause = null } = bytes;
  const names = new Map<string, string>(
    containers.flatMap((container) => {
      const { namespace = '', name } = podRefOf(container);
      const text = `container ${container.name} of pod ${namespace}/${name ?? ''}`;
      return name === undefined ? [] : [[`container ${container.id}`, text] as const];
    }),
  );
  const held = new Map<string, number>();
  for (const share of space.shares) {
    const { heldBy: by } = share;
    if (by !== undefined && share.images.includes(id)) held.set(by, (held.get(by) ?? 0) + share.bytes);
  }
  return {
    uniqueBytes: unique,
    sharedBytes: shared,
    packedBytes: packed,
    held: [...held].map(([by, heldBytes]) => ({ by: names.get(by) ?? by, bytes: heldBytes })),
    inexactBecause,
  };
}

/** By the rules of image GC: containers made from the image, running or not, and unfinished pods that name it. */
function usersOf(id: string, { images = [], containers = [], pods = [] }: NodePart): readonly ImageUser[] {
  const index = imageIndex(images);
  const users = containers
    .filter((container) => usedImages(index, [container]).has(id))
    .map((container): ImageUser => {
      const { namespace, name } = podRefOf(container);
      return {
        container: { id: container.id, name: container.name, state: container.state },
        pod: namespace === undefined || name === undefined ? null : `${namespace}/${name}`,
      };
    });
  const known = new Set(users.map(({ pod }) => pod));
  const naming = pods
    .filter((pod) => boundImages(index, [pod]).has(id))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .filter((pod) => !known.has(pod));
  return [...users, ...naming.map((pod): ImageUser => ({ container: null, pod }))];
}
