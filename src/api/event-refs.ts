import { isCut } from '../runtime/bounds.ts';

/** The object of an Event. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** undefined for cluster-scoped objects: their Events are in `default`. */
  readonly namespace?: string | undefined;
  readonly uid: string;
}

type Named = Pick<ObjectRef, 'name' | 'uid'>;

/** An Event about a pod is in its namespace. */
export const podRef = ({ namespace, name, uid }: Named & { readonly namespace: string }): ObjectRef => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace,
  name,
  uid,
});

/** Nodes are cluster-scoped. */
export const nodeRef = ({ name, uid }: Named): ObjectRef => ({ apiVersion: 'v1', kind: 'Node', name, uid });

/** Policies are cluster-scoped. */
export const policyRef = ({ name, uid }: Named): ObjectRef => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  name,
  uid,
});

/** The controlling owner of pods, which outlives them; undefined = there is none, or none that can exist: its name had to be cut. */
export function ownerRef(owner: ObjectRef | undefined, namespace: string): ObjectRef | undefined {
  if (owner === undefined || isCut(owner.name)) return undefined;
  // A Node owns its mirror pods; it is cluster-scoped, so its Events are in another namespace.
  const isNode = owner.kind === 'Node' && owner.apiVersion === 'v1';
  return { ...owner, namespace: isNode ? undefined : namespace };
}

/** The annotations of Events, for programs, which do not read notes. */
export const eventAnnotations = {
  reason: 'gc.dustpan.dev/reason',
  policy: 'gc.dustpan.dev/policy',
  /** The first of the pods that were deleted together, separated by commas. */
  names: 'gc.dustpan.dev/pods',
  /** The number of the others. */
  more: 'gc.dustpan.dev/more-pods',
  /** Why a pod is stuck, in a word. */
  cause: 'gc.dustpan.dev/cause',
} as const;
