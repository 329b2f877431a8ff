import { sum } from '../../runtime/sum.ts';
import { nearestNames } from '../../runtime/text/nearest.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import type { TopQuestion } from '../top/command.ts';
import type { TopFacts } from '../top/rows.ts';
import { topView, type TopView } from '../top/view.ts';
import { daySeconds, workloadText, type WorkloadRow } from '../top/workloads.ts';

const mebi = 1024 ** 2;
/** Space for a busier week. */
const headroom = 1.2;
/** A burst of logs would exceed a smaller limit. */
const leastLimit = 128 * mebi;
const leastRequest = 16 * mebi;

/** A quantity that people can read: of eight in each doubling, so at most an eighth more. */
function roundedUp(bytes: number): number {
  const step = 2 ** (Math.floor(Math.log2(bytes)) - 3);
  return step * Math.ceil(bytes / step);
}

/** A container or an emptyDir; absent = none. The limit of an emptyDir is its sizeLimit. */
export interface SuggestedPart {
  readonly kind: 'container' | 'sidecar' | 'volume';
  readonly name: string;
  readonly highestBytes: number;
  readonly present: Values;
  readonly suggested: Values;
}

/** `volume/full`: with a space, the name could be read as a word. */
export const partText = ({ kind, name }: Pick<SuggestedPart, 'kind' | 'name'>): string => `${kind}/${name}`;

interface Values {
  readonly requestBytes: number | undefined;
  readonly limitBytes: number | undefined;
}

/** A present limit that a pod has exceeded in the time of watching: the kubelet evicts such a pod. */
interface Exceeded {
  /** `pod`, `container/main`, `volume/data`. */
  readonly subject: string;
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** Without a reason there are values. What is unknown is absent. */
export interface Suggestion {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly reason: NoValues | undefined;
  readonly watchedSeconds: number;
  /** Of one pod. */
  readonly highestBytes: number;
  readonly highestPod: string | undefined;
  /** What a pod may have used on a node that has marks, but does not list the workload. */
  readonly unlistedBytes: number;
  /** Whether a pod may have used any bytes on a node: the node has no marks, or too few. */
  readonly hasUnknownNodes: boolean;
  /** Of a pod. */
  readonly present: Values;
  readonly suggested: Values;
  readonly parts: readonly SuggestedPart[];
  readonly exceeded: readonly Exceeded[];
  /** Pods that fit on a node by the suggested request and its number of pods. */
  readonly podsPerNode: { readonly least: number; readonly most: number } | undefined;
}

/** Why there are no values. */
export type NoValues = 'WatchedLessThanADay' | 'NotMeasured' | 'TooManyParts' | 'NoContainer';

/** `dustpan suggest -o json`. What is unknown is absent. */
export interface SuggestView {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Suggestions';
  readonly notes: TopView['notes'];
  readonly items: readonly Suggestion[];
}

interface Given {
  readonly question: TopQuestion;
  /** `deployment/web`; undefined = all. */
  readonly workload: string | undefined;
  readonly facts: TopFacts;
  /** What each node has for pods; undefined = unknown. */
  readonly allocatable: readonly Allocatable[] | undefined;
}

export interface Allocatable {
  /** Of ephemeral storage. */
  readonly bytes: number;
  /** The number of pods; undefined = unknown. */
  readonly pods: number | undefined;
}

/** Throws if the workload is not listed. */
export function suggestView({ facts, allocatable, question, workload }: Given, now: Date): SuggestView {
  const view = topView(facts, question, now);
  if (view.kind !== 'TopWorkloads') throw new Error(`suggestions are of workloads, not of ${question.kind}`);
  const items = view.items.filter((row) => (workload ?? workloadText(row)) === workloadText(row));
  if (workload !== undefined && items.length === 0)
    throw new Error(
      `no report lists ${workload} in this namespace: it does not exist, or on each node with a report none of its pods was measured with more than ${compactQuantityText(view.rest.highestBytes)}${nearestNames(workload, view.items.map(workloadText))}`,
    );
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'Suggestions',
    notes: view.notes,
    items: items.map((row) => suggestionOf(row, allocatable)),
  };
}

/**
 * Suggests values that no pod of the workload has reached in the time of watching, 20 % above the highest. The kubelet compares writable layers, logs
 * and emptyDirs together with the sum of the limits of the containers, so the container that uses most also gets the space of the emptyDirs.
 */
export function suggestionOf(row: WorkloadRow, allocatable: readonly Allocatable[] | undefined): Suggestion {
  const { namespace, kind, name, highestBytes, highestPod, watchedSeconds, requestBytes, limitBytes } = row;
  const reason = noValues(row);
  const parts = reason === undefined ? suggestedParts(row) : [];
  const containers = parts.filter((part) => part.kind !== 'volume').map(({ suggested }) => suggested);
  const request = reason === undefined ? sum(containers.map((one) => one.requestBytes ?? 0)) : undefined;
  const fits = allocatable?.map(({ bytes, pods = Infinity }) =>
    Math.min(pods, Math.floor(bytes / (request ?? Infinity))),
  );
  return {
    namespace,
    kind,
    name,
    reason,
    watchedSeconds,
    highestBytes,
    highestPod,
    unlistedBytes: row.unlistedBytes,
    hasUnknownNodes: row.hasUnknownNodes,
    present: { requestBytes, limitBytes },
    suggested: {
      requestBytes: request,
      limitBytes: request === undefined ? undefined : sum(containers.map((one) => one.limitBytes ?? 0)),
    },
    parts,
    exceeded: exceededOf(row),
    podsPerNode:
      request === undefined || fits === undefined || fits.length === 0
        ? undefined
        : { least: Math.min(...fits), most: Math.max(...fits) },
  };
}

function noValues({ watchedSeconds, parts, otherParts }: WorkloadRow): NoValues | undefined {
  if (watchedSeconds < daySeconds) return 'WatchedLessThanADay';
  if (otherParts > 0) return 'TooManyParts';
  if (parts.every(({ kind }) => kind === 'volume')) return 'NoContainer';
  return parts.some(({ highestBytes }) => highestBytes === undefined) ? 'NotMeasured' : undefined;
}

function suggestedParts({ highestBytes, unlistedBytes, parts }: WorkloadRow): readonly SuggestedPart[] {
  const alone = parts.map(({ kind, name, highestBytes: own = 0, requestBytes, limitBytes }) => {
    const limit = Math.max(leastLimit, headroom * Math.max(own, unlistedBytes));
    const request = kind === 'volume' ? undefined : Math.max(leastRequest, headroom * own);
    const suggested = {
      requestBytes: request === undefined ? undefined : roundedUp(request),
      limitBytes: roundedUp(limit),
    };
    return { kind, name, highestBytes: own, present: { requestBytes, limitBytes }, suggested };
  });
  const containers = alone.filter(({ kind }) => kind !== 'volume');
  const largest = containers.reduce((a, b) => (b.highestBytes > a.highestBytes ? b : a));
  const others = containers.filter((one) => one !== largest).map(({ suggested }) => suggested);
  const rest = (needed: number, field: keyof Values): number =>
    roundedUp(
      Math.max(headroom * needed - sum(others.map((one) => one[field] ?? 0)), largest.suggested[field] ?? 0),
    );
  const requestBytes = rest(highestBytes, 'requestBytes');
  const limitBytes = Math.max(requestBytes, rest(Math.max(highestBytes, unlistedBytes), 'limitBytes'));
  return alone.map((part) =>
    part === largest ? { ...part, suggested: { requestBytes, limitBytes } } : part,
  );
}

/** As the kubelet compares (pkg/kubelet/eviction/eviction_manager.go, localStorageEviction). Only of a pod as a whole is 0 a limit. */
function exceededOf({ highestBytes, limitBytes, parts, dedicatedImageFs }: WorkloadRow): readonly Exceeded[] {
  // There it compares only logs with the limit of a container, and the mark has the writable layer, too.
  const compared = parts.filter(({ kind }) => kind === 'volume' || !dedicatedImageFs);
  return [
    { subject: 'pod', usedBytes: highestBytes, limitBytes },
    ...compared.map(({ kind, name, highestBytes: usedBytes = 0, limitBytes: limit = 0 }) => ({
      subject: partText({ kind, name }),
      usedBytes,
      limitBytes: limit === 0 ? undefined : limit,
    })),
  ].flatMap(({ subject, usedBytes, limitBytes: limit }) =>
    limit !== undefined && usedBytes > limit ? [{ subject, usedBytes, limitBytes: limit }] : [],
  );
}
