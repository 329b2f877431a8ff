import type { GCPolicy } from '../api/gcpolicy.gen.ts';
import type { NodeGCReport } from '../api/nodegcreport.gen.ts';
import { listPages } from '../kube/list-watch.ts';
import { policiesPath } from '../kube/live-policies.ts';
import type { RawFacts } from '../kube/objects.ts';
import { Reflector } from '../kube/reflector.ts';
import { jsonResource, type Resource } from '../kube/resources.ts';
import { ApiError, type KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

/** What a status is made of. */
export interface StatusObjects {
  readonly policies: readonly GCPolicy[];
  /** undefined = they could not be read. */
  readonly reports: readonly NodeGCReport[] | undefined;
  /** What a person should know about what was read; one sentence each. */
  readonly notes: readonly string[];
}

interface SourceDeps {
  readonly transport: KubeTransport;
  readonly clock: Clock;
}

const resources = {
  policies: jsonResource({ name: 'gcpolicies', path: policiesPath }),
  reports: jsonResource({ name: 'nodegcreports', path: '/apis/gc.dustpan.dev/v1alpha1/nodegcreports' }),
};

/** A report may have 50 KB, and a page is held in one piece. */
const pageSize = 100;

/** Lists once. Rejects when the policies cannot be read; reports that may not be read are left out with a note. */
export async function readOnce(
  { transport, clock }: SourceDeps,
  signal: AbortSignal,
): Promise<StatusObjects> {
  const list = async (resource: Resource<RawFacts>): Promise<readonly RawFacts[]> => {
    const source = { transport, clock, random: Math.random, resource, pageSize };
    const items: RawFacts[] = [];
    for await (const page of listPages(source, signal)) items.push(...page.items);
    return items;
  };
  const policies = await list(resources.policies).catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 404)
      throw new Error('the kind GCPolicy is not installed in the cluster: is dustpan?');
    throw new Error('listing gcpolicies', { cause });
  });
  try {
    return { ...typed(policies, await list(resources.reports)), notes: [] };
  } catch (err) {
    if (!(err instanceof ApiError && (err.status === 403 || err.status === 404))) throw err;
    const note = err.status === 404 ? 'the kind NodeGCReport is not installed in the cluster' : err.message;
    return { ...typed(policies, undefined), notes: [`cannot list nodegcreports: ${note}`] };
  }
}

interface WatchDeps extends SourceDeps {
  readonly log: Logger;
  readonly onChange: () => void;
  /** False: the reports may not be read. */
  readonly withReports: boolean;
}

/** The same, kept current until the signal aborts; a watch that does not work is told in a note. */
export class StatusWatch {
  readonly #policies: Reflector<RawFacts>;
  readonly #reports: Reflector<RawFacts> | undefined;

  constructor({ withReports, ...deps }: WatchDeps) {
    const reflect = (resource: Resource<RawFacts>): Reflector<RawFacts> =>
      new Reflector({ ...deps, random: Math.random, resource, pageSize });
    this.#policies = reflect(resources.policies);
    this.#reports = withReports ? reflect(resources.reports) : undefined;
  }

  /** undefined before both were listed. */
  get objects(): StatusObjects | undefined {
    const all = [this.#policies, ...(this.#reports === undefined ? [] : [this.#reports])];
    if (all.some(({ synced, state }) => !synced && state !== 'missing')) return undefined;
    const notes = all.flatMap(({ state, lastError }) =>
      state === 'synced' ? [] : [`figures may be old, a watch does not work: ${lastError ?? 'not listed'}`],
    );
    return { ...typed(itemsOf(this.#policies), this.#reports && itemsOf(this.#reports)), notes };
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#policies.run(signal), this.#reports?.run(signal)]);
  }
}

const itemsOf = ({ items }: Reflector<RawFacts>): readonly RawFacts[] => [...items.values()];

const typed = (
  policies: readonly RawFacts[],
  reports: readonly RawFacts[] | undefined,
): Pick<StatusObjects, 'policies' | 'reports'> => ({
  policies: policies.map(({ object }) => object).filter(isPolicy),
  reports: reports?.map(({ object }) => object).filter(isReport),
});

// The API server has validated them against the very schemas that the types are made from.
const isPolicy = (object: RawFacts['object']): object is RawFacts['object'] & GCPolicy =>
  typeof object['metadata'] === 'object';
const isReport = (object: RawFacts['object']): object is RawFacts['object'] & NodeGCReport =>
  typeof object['metadata'] === 'object';
