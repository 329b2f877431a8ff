import type { Waiting } from '../../../../src/runtime/scheduling/loop.ts';
import { Registry } from 'prom-client';
import type { EvictionRequest } from '../../../../src/api/local-storage.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { EvictionController, type EvictionDeps } from '../../../../src/controllers/eviction/controller.ts';
import type { EvictionKeepReason } from '../../../../src/api/reasons.ts';
import { evictionMetrics, evictionUnitReasons } from '../../../../src/controllers/eviction/metrics.ts';
import { startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import type { LivePod } from '../../../../src/kube/actions/live-reads.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import type { NamespaceFacts, NodeFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { node, pod } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { FakeEvictions, livePod, livePolicies } from '../../../fakes/evictions.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { evictionRequest, byUid, evictPolicy, namespace } from './builders.ts';
import { report } from '../policystatus/builders.ts';

interface FakeStore<T> {
  items: Map<string, T>;
  synced: boolean;
}
const store = <T>(items: Map<string, T>): FakeStore<T> => ({ items, synced: true });

/** The controller and a cluster in which node-1 runs these pods and requests their eviction. */
export class EvictionEnvironment {
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly log = new RecordingLogger();
  readonly registry = new Registry();
  readonly evictions: FakeEvictions;
  readonly nodeReports = store<NodeReportFacts>(new Map());
  readonly pods = store<PodFacts>(new Map());
  readonly nodes = store<NodeFacts>(byUid(node('node-1'), node('node-2')));
  readonly namespaces = store<NamespaceFacts>(byUid(namespace('default')));
  readonly policies = {
    synced: true,
    ranked: [evictPolicy()] as readonly (Policy | InvalidPolicy)[],
    fingerprint: '',
  };
  leads = true;
  /** Whether another process has led before. */
  hasPredecessor = false;
  readonly #stop = new AbortController();
  readonly #deps: EvictionDeps;
  #controller: EvictionController;

  constructor(...pods: readonly LivePod[]) {
    this.evictions = new FakeEvictions(...pods);
    for (const { uid, name, namespace: ns } of pods) {
      const facts = pod(`${ns}/${name}`, { uid, phase: 'Running' });
      this.pods.items.set(uid, facts);
    }
    this.request(
      ...pods.map(({ uid, name, namespace: ns }) =>
        evictionRequest(name, { pod: { namespace: ns, name, uid } }),
      ),
    );
    const units = unitMetrics(this.registry);
    startMetrics(units, 'eviction', evictionUnitReasons);
    this.#deps = {
      ...{ nodeReports: this.nodeReports, pods: this.pods, nodes: this.nodes, namespaces: this.namespaces },
      ...{ policies: this.policies, policySet: this.policies, evictions: this.evictions },
      ...{ live: this.evictions, holdsLease: () => this.leads },
      hasPredecessor: () => this.hasPredecessor,
      ...{ recorder: this.recorder, clock: this.clock, log: this.log },
      metrics: units,
      own: evictionMetrics(this.registry),
    };
    this.#controller = new EvictionController(this.#deps);
  }

  /** Another process becomes the leader. */
  lead(): void {
    this.hasPredecessor = true;
    this.#controller = new EvictionController(this.#deps);
  }

  request(...requests: readonly EvictionRequest[]): this {
    return this.requestFrom('node-1', ...requests);
  }

  requestFrom(name: string, ...requests: readonly EvictionRequest[]): this {
    this.nodeReports.items.set(`report-${name}`, report(name, { requests }));
    return this;
  }

  updatePod(uid: string, over: Partial<PodFacts>): this {
    const known = this.pods.items.get(uid);
    if (known === undefined) throw new Error(`no pod ${uid}`);
    this.pods.items.set(uid, { ...known, ...over });
    return this;
  }

  /** Sets the response to reading the policies live. */
  confirm(over: Parameters<typeof livePolicies>[0]): this {
    this.evictions.policies = () => Promise.resolve(livePolicies(over));
    return this;
  }

  /** How many planned evictions the checks prevented for this reason. */
  skipped(reason: EvictionKeepReason): Promise<number> {
    return this.metric('dustpan_skipped_objects_total', `{unit="eviction",reason="${reason}"}`);
  }

  /** How many requested pods the last plan keeps for this reason. */
  kept(reason: EvictionKeepReason): Promise<number> {
    return this.metric('dustpan_kept_objects', `{unit="eviction",reason="${reason}"}`);
  }

  pass = (): Promise<Waiting> => this.#controller.reconcile(this.#stop.signal);

  stop(): this {
    this.#stop.abort();
    return this;
  }

  /** The value of a metric, its labels in the order of their declaration. */
  async metric(name: string, labels = ''): Promise<number> {
    const line = (await this.registry.metrics())
      .split('\n')
      .find((one) => one.startsWith(`${name}${labels} `));
    return Number(line?.split(' ')[1]);
  }

  messages(level: string): string[] {
    return this.log.lines.filter((line) => line.level === level).map(({ message }) => message);
  }
}

/** An environment with this many pods, each without an owner, and a policy that evicts them all at once. */
export function many(count: number): EvictionEnvironment {
  const names = Array.from({ length: count }, (_, i) => `p${String(i).padStart(3, '0')}`);
  const env = new EvictionEnvironment(...names.map((name) => livePod(name)));
  env.policies.ranked = [evictPolicy({ maxEvictionsPerMinute: 1_000 })];
  return env;
}
