import { withFinalizer } from '../api/finalizers.ts';
import { content, fields, number, type Cursor } from './decode-cursor.ts';
import type { OwnerReference } from './gen/meta.ts';
import type { PodParts, Seconds } from './pod-parts.ts';

/** Of a list that has none yet; nothing is added to this one. */
const nothing: never[] = [];
const noLabels: PodParts['labels'] = Object.freeze({});

/**
 * As much of a pod as nearly every one of them is judged by, read in place: the messages of a generated decoder are five times the garbage.
 */
export class LeanPod implements PodParts {
  uid = '';
  name = '';
  namespace = '';
  resourceVersion = '';
  generation = 0;
  createdAt: Seconds = undefined;
  deletionAt: Seconds = undefined;
  deletionGracePeriodSeconds: number | undefined = undefined;
  /** The controller alone: a pod may name tens of thousands of other owners. */
  ownerReferences: OwnerReference[] = nothing;
  finalizers: string[] = nothing;
  nodeName = '';
  startedAt: Seconds = undefined;
  phase = '';
  reason = '';
  message = '';
  ends: Seconds[] = nothing;
  otherEnds: Seconds[] = nothing;
  /** Not read. */
  readonly labels = noLabels;
  /** Not read. */
  readonly changes = nothing;
  /** It has one of the labels that are kept. */
  isLabelled = false;
  readonly #keys: ReadonlySet<string>;

  constructor(keys: ReadonlySet<string>) {
    this.#keys = keys;
  }

  read(cursor: Cursor, message: Buffer): this {
    cursor.readMessage(message, podFields, this);
    return this;
  }

  seeLabel(key: string): void {
    if (this.#keys.has(key)) this.isLabelled = true;
  }
}

interface Moment {
  seconds: Seconds;
}

// Field numbers are those of core/v1 and meta/v1. Of a message that comes twice the parts are merged, as protobuf says.

const time = fields<Moment>({
  [number(1)]: (cursor, it) => {
    it.seconds = cursor.int64();
  },
});
const terminated = fields<Moment>({
  [content(6)]: (cursor, it) => {
    cursor.readNested(time, it);
  },
});
const state = fields<Moment>({
  [content(3)]: (cursor, it) => {
    cursor.readNested(terminated, it);
  },
});
const containerStatus = fields<Moment>({
  [content(2)]: (cursor, it) => {
    cursor.readNested(state, it);
  },
});

const label = fields<LeanPod>({
  [content(1)]: (cursor, pod) => {
    pod.seeLabel(cursor.shared());
  },
});

const owner = fields<OwnerReference>({
  [content(1)]: (cursor, it) => {
    it.kind = cursor.shared();
  },
  [content(3)]: (cursor, it) => {
    it.name = cursor.text();
  },
  [content(4)]: (cursor, it) => {
    it.uid = cursor.text();
  },
  [content(5)]: (cursor, it) => {
    it.apiVersion = cursor.shared();
  },
  [number(6)]: (cursor, it) => {
    it.controller = cursor.bool();
  },
});

const metadata = fields<LeanPod>({
  [content(1)]: (cursor, pod) => {
    pod.name = cursor.text();
  },
  [content(3)]: (cursor, pod) => {
    pod.namespace = cursor.shared();
  },
  [content(5)]: (cursor, pod) => {
    pod.uid = cursor.text();
  },
  [content(6)]: (cursor, pod) => {
    pod.resourceVersion = cursor.text();
  },
  [number(7)]: (cursor, pod) => {
    pod.generation = cursor.int64();
  },
  [content(8)]: (cursor, pod) => {
    pod.createdAt = readMoment(cursor, time);
  },
  [content(9)]: (cursor, pod) => {
    pod.deletionAt = readMoment(cursor, time);
  },
  [number(10)]: (cursor, pod) => {
    pod.deletionGracePeriodSeconds = cursor.int64();
  },
  [content(11)]: (cursor, pod) => {
    cursor.readNested(label, pod);
  },
  [content(13)]: (cursor, pod) => {
    const one: OwnerReference = { kind: '', name: '', uid: '', apiVersion: '', controller: undefined };
    cursor.readNested(owner, one);
    if (one.controller === true && pod.ownerReferences.length === 0) pod.ownerReferences = [one];
  },
  [content(14)]: (cursor, pod) => {
    pod.finalizers = withFinalizer(pod.finalizers, cursor.shared());
  },
});

const spec = fields<LeanPod>({
  [content(10)]: (cursor, pod) => {
    pod.nodeName = cursor.shared();
  },
});

const readOtherEnd = (cursor: Cursor, pod: LeanPod): void => {
  pod.otherEnds = withOne(pod.otherEnds, readMoment(cursor, containerStatus));
};

const status = fields<LeanPod>({
  [content(1)]: (cursor, pod) => {
    pod.phase = cursor.shared();
  },
  [content(3)]: (cursor, pod) => {
    pod.message = cursor.text();
  },
  [content(4)]: (cursor, pod) => {
    pod.reason = cursor.shared();
  },
  [content(7)]: (cursor, pod) => {
    pod.startedAt = readMoment(cursor, time);
  },
  [content(8)]: (cursor, pod) => {
    pod.ends = withOne(pod.ends, readMoment(cursor, containerStatus));
  },
  [content(10)]: readOtherEnd,
  [content(13)]: readOtherEnd,
});

const podFields = fields<LeanPod>({
  [content(1)]: (cursor, pod) => {
    cursor.readNested(metadata, pod);
  },
  [content(2)]: (cursor, pod) => {
    cursor.readNested(spec, pod);
  },
  [content(3)]: (cursor, pod) => {
    cursor.readNested(status, pod);
  },
});

function readMoment(cursor: Cursor, as: typeof time): Seconds {
  const moment: Moment = { seconds: undefined };
  cursor.readNested(as, moment);
  return moment.seconds;
}

/** Most lists have one item: one that begins empty has room for 17. */
function withOne<T>(some: T[], one: T): T[] {
  if (some.length === 0) return [one];
  some.push(one);
  return some;
}
