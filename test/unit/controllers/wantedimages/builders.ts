import type { Workload } from '../../../../src/kube/cache/workloads.ts';

/** A workload of the namespace batch with the image `web`. */
export const workload = (kind: Workload['kind'], over: Partial<Workload> = {}): Workload => ({
  kind,
  namespace: 'batch',
  name: 'report',
  isOwned: false,
  isSuspended: false,
  replicas: undefined,
  images: ['web'],
  nodeSelector: {},
  ...over,
});
