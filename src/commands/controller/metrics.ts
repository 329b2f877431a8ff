import { Counter, Gauge, type Registry } from 'prom-client';
import { componentMetrics, type ComponentMetrics } from '../cli/process-metrics.ts';

export interface ControllerMetrics extends ComponentMetrics {
  readonly leading: (leading: boolean) => void;
  readonly slowRenewal: () => void;
}

/** The metrics of the process and of the lease named `lease`. */
export function controllerMetrics(registry: Registry, lease: string): ControllerMetrics {
  const registers: [Registry] = [registry];
  const leading = new Gauge({
    name: 'dustpan_leader_election_master_status',
    help: '[ALPHA] 1 while this process holds the Lease, or needs none.',
    labelNames: ['name'],
    registers,
  });
  const slow = new Counter({
    name: 'dustpan_leader_election_slowpath_total',
    help: '[ALPHA] Renewals of the Lease that had to read it first.',
    labelNames: ['name'],
    registers,
  });
  leading.set({ name: lease }, 0);
  slow.inc({ name: lease }, 0);
  return {
    ...componentMetrics(registry),
    leading: (leads) => {
      leading.set({ name: lease }, leads ? 1 : 0);
    },
    slowRenewal: () => {
      slow.inc({ name: lease });
    },
  };
}
