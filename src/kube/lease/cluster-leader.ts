import type { LeaseName } from './client.ts';
import type { LeaseElector, LeaseOutcome } from './lease.ts';

/** The Lease that the acting controller of a cluster holds, whatever its release: a fixed place, so that two releases find each other. */
export const clusterLease: LeaseName = { namespace: 'kube-system', name: 'gc.dustpan.dev' };

type Elector = Pick<LeaseElector, 'run' | 'watch' | 'holdsLease' | 'hasPredecessor' | 'health'>;

/**
 * Runs `lead` in one process of a cluster at a time: it holds the Lease of its release, for which versions without the Lease of the cluster compete
 * too, and then the one of the cluster (ADR 92).
 */
export class ClusterLeader implements Omit<Elector, 'watch'> {
  readonly #release: Elector;
  readonly #cluster: Elector;

  constructor({ release, cluster }: { readonly release: Elector; readonly cluster: Elector }) {
    this.#release = release;
    this.#cluster = cluster;
  }

  get hasPredecessor(): boolean {
    return this.#release.hasPredecessor || this.#cluster.hasPredecessor;
  }

  holdsLease(): boolean {
    return this.#release.holdsLease() && this.#cluster.holdsLease();
  }

  health(): string | undefined {
    return this.#release.health() ?? this.#cluster.health();
  }

  async run(lead: (signal: AbortSignal) => Promise<void>, stop: AbortSignal): Promise<LeaseOutcome> {
    const over = new AbortController();
    // The term of a leader that is dead runs for both Leases at once.
    const watching = this.#cluster.watch(AbortSignal.any([over.signal, stop]));
    let inCluster: LeaseOutcome = 'released';
    try {
      const inRelease = await this.#release.run(async (signal) => {
        over.abort();
        await watching;
        inCluster = await this.#cluster.run(lead, signal);
      }, stop);
      return inRelease === 'lost' ? inRelease : inCluster;
    } finally {
      over.abort();
      await watching;
    }
  }
}
