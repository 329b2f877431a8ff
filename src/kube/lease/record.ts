import type { V1Lease, V1ObjectMeta } from '@kubernetes/client-node';
import { microTime, type OnWire } from '../codec/wire.ts';

/** coordination.k8s.io/v1 Lease. Fields that leader election does not read are written back unchanged. */
export type Lease = OnWire<V1Lease> & { readonly metadata: OnWire<V1ObjectMeta> };

/** The lease as last read or written, and the monotonic time of its last observed change. */
export interface Observation {
  readonly lease: Lease;
  readonly changedAtMs: number;
}

export interface HolderPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Claim {
  readonly identity: string;
  /** undefined = it does not run in a pod, or does not know its UID. */
  readonly pod: HolderPod | undefined;
  readonly leaseDurationMs: number;
  readonly now: Date;
}

/** Candidates wait one to 2.2 retry periods between attempts, as upstream, and the deadline must allow more than one attempt. */
export const jitterFactor = 1.2;

export const holderOf = (lease: Lease): string => lease.spec?.holderIdentity ?? '';

/** Returns the observation after a read. Only a change of the spec restarts the local expiry. */
export function observe(known: Observation | undefined, lease: Lease, nowMs: number): Observation {
  const changed = known === undefined || JSON.stringify(known.lease.spec) !== JSON.stringify(lease.spec);
  return { lease, changedAtMs: changed ? nowMs : known.changedAtMs };
}

/** Whether the holder's term has not ended on our own clock. A lease without a duration gets ours. */
export function hasHolder(
  { lease, changedAtMs }: Observation,
  leaseDurationMs: number,
  nowMs: number,
): boolean {
  if (holderOf(lease) === '') return false;
  const termMs = (lease.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000;
  return nowMs < changedAtMs + termMs;
}

/** Annotation of the Lease: namespace, name and UID of the holder's pod. */
const podAnnotation = 'gc.dustpan.dev/holder-pod';

/** The pod of the holder; undefined = not known. A holder that does not write the annotation leaves that of another pod. */
export function holderPod(lease: Lease): HolderPod | undefined {
  const [namespace, name, uid] = (lease.metadata.annotations?.[podAnnotation] ?? '').split('/');
  const isKnown = namespace && name && uid && holderOf(lease).startsWith(`${name}_`);
  return isKnown ? { namespace, name, uid } : undefined;
}

/** The lease with `identity` as its holder: a renewal if it already is, else a take-over. */
export function claimed(lease: Lease, { identity, pod, leaseDurationMs, now }: Claim): Lease {
  const renewTime = microTime(now);
  const spec = { ...lease.spec, leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000), renewTime };
  if (holderOf(lease) === identity) return { ...lease, spec };
  const leaseTransitions = lease.spec === undefined ? 0 : (lease.spec.leaseTransitions ?? 0) + 1;
  const others = Object.entries(lease.metadata.annotations ?? {}).filter(([key]) => key !== podAnnotation);
  const own = pod === undefined ? [] : [[podAnnotation, `${pod.namespace}/${pod.name}/${pod.uid}`] as const];
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations: Object.fromEntries([...others, ...own]) },
    spec: { ...spec, holderIdentity: identity, acquireTime: renewTime, leaseTransitions },
  };
}

/** The lease without a holder. Its term is one second, for readers that only check the times. */
export function released(lease: Lease, now: Date): Lease {
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
  return { ...lease, spec };
}

export const newLease = ({ namespace, name }: { namespace: string; name: string }): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace, name },
});
