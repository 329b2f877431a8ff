import { printable } from '../../runtime/text/printable.ts';
import { isInodes, type NodeSignal, type ThresholdSignal } from '../../api/node-pressure.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { CheckpointTarget, OrphanTarget } from '../decision.ts';
import type { Why } from '../words.ts';

const endings = ['th', 'st', 'nd', 'rd'];
// Without Intl.PluralRules: ICU and its data would cost every agent 2 MiB.
const isTeen = (place: number): boolean => Math.floor(place / 10) % 10 === 1;

/** `1st`, `14th`. */
export const ordinal = (place: number): string =>
  `${place}${(isTeen(place) ? undefined : endings[place % 10]) ?? 'th'}`;

/** `1 pod`, `2 pods`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The first `max` names, and the number of the others: `a, b and 2 more`. */
export function firstOf(names: readonly string[], max: number): string {
  const more = names.length - max;
  return `${names.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Patterns of a list in nodes.imageGC that match nothing. `where`: such as `on 3 nodes`. */
export function noImageText(where: string, list: string, patterns: readonly string[]): string {
  const names = patterns.map((pattern) => JSON.stringify(pattern));
  return `no image ${where} matches ${firstOf(names, 3)} of nodes.imageGC.${list}`;
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Unix milliseconds as RFC 3339. */
export const timeText = (ms: number): string => formatRfc3339(new Date(ms));

/** `pod web/api`, or `its pod` if its name is unknown. */
export const podText = (
  pod: { readonly namespace: string | undefined; readonly name: string | undefined } | undefined,
): string =>
  pod?.namespace === undefined || pod.name === undefined ? 'its pod' : `pod ${pod.namespace}/${pod.name}`;

/** The keep label as the field that decides. */
export const keepLabelField = (): string => `metadata.labels["${KEEP_LABEL}"]`;

/** The change that ends the effect of a keep label. */
export const labelRemoved =
  'Somebody removes the label gc.dustpan.dev/keep. dustpan treats as labelled, too: a node or namespace with more than 64 KB of labels, and a pod on a node with more than 256 containers or volumes.';

/** The change that ends the effect of an invalid policy. */
export const policyCorrected =
  'Somebody corrects the policy; its condition Accepted and its Event show the problem.';

/** Explains that an invalid policy may select an object: names the policy and its first problem. `what` is the object. */
export function explainInvalid(policy: Policy | InvalidPolicy | undefined, what: string): Why {
  const [problem = ''] = policy !== undefined && isInvalid(policy) ? policy.problems : [];
  const text = problem === '' ? '.' : `: ${problem.replace(/[.]?$/, '.')}`;
  return {
    detail: `GCPolicy ${policy?.name ?? ''} is invalid and may select ${what}, so dustpan keeps it${text}`,
    field: problem.split(': ', 1)[0],
  };
}

/** Resource of which the node is short, with the kubelet's name of the signal. */
export const signalText: Readonly<Record<ThresholdSignal, string>> = {
  'nodefs.available': 'disk space for local storage (nodefs.available)',
  'nodefs.inodesFree': 'inodes for local storage (nodefs.inodesFree)',
  'imagefs.available': 'disk space for images (imagefs.available)',
  'imagefs.inodesFree': 'inodes for images (imagefs.inodesFree)',
  'memory.available': 'memory (memory.available)',
};

/** `1.2 GiB`, or `1200 inodes`. */
export const amountText = (signal: NodeSignal, amount: number): string =>
  isInodes(signal) ? counted(amount, 'inode') : sizeText(amount);

export const signalField = (signal: ThresholdSignal, threshold: string): string =>
  `nodes.nodePressure.thresholds["${signal}"]=${threshold}`;

/** The policy field for each kind of orphaned resource. */
export const orphanField: Readonly<Record<OrphanTarget['kind'], string>> = {
  PodDirectory: 'nodes.orphans.podDirectories',
  PodCgroup: 'nodes.orphans.podCgroups',
};

const orphanPlaces: Readonly<Record<OrphanTarget['kind'], string>> = {
  PodDirectory: 'the pod directories of the kubelet',
  PodCgroup: 'the control groups',
};

/** Names the Helm value without which the agent cannot remove these objects. */
export const readOnlyText = ({ kind }: Pick<OrphanTarget | CheckpointTarget, 'kind'>): string =>
  kind === 'Checkpoint'
    ? "The policy removes checkpoints, but the kubelet's directory checkpoints is mounted read-only into the agent: set agent.checkpoints=true in the Helm values."
    : `The policy has ${orphanField[kind]}=Remove, but ${orphanPlaces[kind]} are mounted read-only into the agent: set ${orphanField[kind].replace('nodes', 'agent')}=true in the Helm values.`;

/** The caches that are not current, and why: "pods (403 Forbidden: …); nodes (…)". */
export const staleText = (
  caches: readonly { readonly resource: string; readonly error: string | undefined }[],
): string =>
  caches
    .map(({ resource, error }) => `${resource} (${printable(error ?? 'the first list has not ended')})`)
    .join('; ');
