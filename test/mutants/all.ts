import { commandMutants } from './commands.ts';
import { containerGcMutants } from './containergc.ts';
import { criMutants } from './cri.ts';
import { evictionMutants } from './eviction.ts';
import { executeMutants } from './execute.ts';
import { governanceMutants } from './governance.ts';
import type { MutantGroup } from './group.ts';
import { imageGcMutants } from './imagegc.ts';
import { kubeActionMutants } from './kube/actions.ts';
import { kubeAuthMutants } from './kube/auth.ts';
import { kubeCacheMutants } from './kube/cache.ts';
import { kubeCodecMutants } from './kube/codec.ts';
import { kubeEventMutants } from './kube/events.ts';
import { kubeExecMutants } from './kube/exec.ts';
import { kubeHttpMutants } from './kube/http.ts';
import { kubeLeaseMutants } from './kube/lease.ts';
import { kubeObjectMutants } from './kube/objects.ts';
import { localStorageMutants } from './localstorage.ts';
import { nodePressureMutants } from './nodepressure.ts';
import { nodeLogMutants } from './node/logs.ts';
import { nodeOrphanMutants } from './node/orphans.ts';
import { nodeMeasureMutants } from './node/measured.ts';
import { checkMutants } from './passes/checks.ts';
import { containerGcPassMutants } from './passes/containers.ts';
import { evictionPassMutants } from './passes/evictions.ts';
import { imageGcPassMutants } from './passes/images.ts';
import { podGcPassMutants } from './passes/podgc.ts';
import { localStoragePassMutants, reportPassMutants } from './passes/reports.ts';
import { policyStatusMutants } from './passes/status.ts';
import { podGcMutants } from './podgc.ts';

/** Every rule of every plan, and the rules of the executor and the adapters on which a deletion depends, broken once at least. */
export const mutantGroups: readonly MutantGroup[] = [
  executeMutants,
  commandMutants,
  governanceMutants,
  podGcMutants,
  evictionMutants,
  imageGcMutants,
  containerGcMutants,
  localStorageMutants,
  nodePressureMutants,
  checkMutants,
  podGcPassMutants,
  evictionPassMutants,
  policyStatusMutants,
  imageGcPassMutants,
  containerGcPassMutants,
  localStoragePassMutants,
  reportPassMutants,
  kubeActionMutants,
  kubeLeaseMutants,
  kubeCacheMutants,
  kubeObjectMutants,
  kubeCodecMutants,
  kubeExecMutants,
  kubeHttpMutants,
  kubeAuthMutants,
  kubeEventMutants,
  criMutants,
  nodeLogMutants,
  nodeMeasureMutants,
  nodeOrphanMutants,
];
