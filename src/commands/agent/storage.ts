import type { Registry } from 'prom-client';
import { LocalStorageManager } from '../../agent/localstorage/manager.ts';
import { localStorageMetrics, podStorageMetrics } from '../../agent/localstorage/metrics.ts';
import type { StorageInventory } from '../../api/local-storage.ts';
import type { NodePassReport } from '../../api/report/node-pass.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { KubeletUsage } from '../../node/kubelet/source.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { AgentCaches } from './caches.ts';
import type { AgentConfig } from './command.ts';
import type { Connected } from '../cli/connect.ts';

export interface LocalStorageUnitDeps {
  readonly config: Pick<AgentConfig, 'nodeName' | 'kubelet' | 'localStoragePodMetrics'>;
  readonly cluster: Pick<Connected, 'connection'>;
  readonly registry: Registry;
  readonly log: Logger;
  readonly caches: Pick<AgentCaches, 'governance' | 'pods'>;
  readonly recorder: Recorder;
  readonly onPass: (pass: NodePassReport, inventory: StorageInventory | undefined) => void;
}

/** The unit localstorage; it opens no connection before a policy asks for it. */
export function localStorage(deps: LocalStorageUnitDeps): LocalStorageManager {
  const { config, cluster, registry, caches, recorder, onPass } = deps;
  const log = deps.log.named('localstorage');
  return new LocalStorageManager({
    ...{ governance: caches.governance, pods: caches.pods, recorder, clock, log, onPass },
    source: new KubeletUsage({
      ...{ ...config.kubelet, nodeName: config.nodeName, cluster: cluster.connection, clock },
    }),
    metrics: localStorageMetrics(registry),
    podMetrics: config.localStoragePodMetrics ? podStorageMetrics(registry) : undefined,
  });
}
