import { hasStorageRule, podLabelKeys, rankPolicies } from '../../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import { listPages } from '../../kube/cache/list-watch.ts';
import { readPolicies } from '../../kube/actions/live-policies.ts';
import { nodeReportsResource } from '../../kube/cache/node-report-facts.ts';
import type { Identified } from '../../kube/cache/objects.ts';
import {
  jobsResource,
  namespacesResource,
  nodesResource,
  podsResource,
  replicaSetsResource,
  type Resource,
} from '../../kube/cache/resources.ts';
import { ApiError, isNotFound, type KubeTransport } from '../../kube/http/transport.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { OnProgress } from '../../snapshot/files.ts';
import { readPolicyFiles } from '../../snapshot/policies.ts';
import { kindMissingNote, type ByUid, type NodePart, type World } from '../../snapshot/world.ts';
import { connect, type Connected } from '../cli/connect.ts';
import type { ThisNode } from '../cli/config.ts';
import type { PlanConfig } from './command.ts';
import { readThisNode } from './live-node.ts';

type LiveConfig = Pick<PlanConfig, 'kube' | 'policyFiles' | 'node'>;

/** Reads the cluster of the kubeconfig, and the node this runs on when that is asked for; rejects when what a plan rests on cannot be read. */
export async function readCluster(config: LiveConfig, onProgress: OnProgress): Promise<World> {
  const cluster = await connect({ kube: config.kube, kubeApiQps: 0, kubeApiBurst: 1 }, () => undefined);
  try {
    return await new ClusterReading(cluster, onProgress).world(config);
  } finally {
    cluster.close();
  }
}

class ClusterReading {
  readonly #transport: KubeTransport;
  readonly #connection: ClusterConnection;
  readonly #onProgress: OnProgress;
  readonly #notes: string[] = [];
  /** Nobody stops a plan but by ending the process. */
  readonly #signal = new AbortController().signal;

  constructor({ transport, connection }: Connected, onProgress: OnProgress) {
    this.#transport = transport;
    this.#connection = connection;
    this.#onProgress = onProgress;
  }

  async world({ policyFiles, node }: LiveConfig): Promise<World> {
    const policies = policyFiles.length > 0 ? await readPolicyFiles(policyFiles) : await this.#policies();
    // The runtime comes before the pods: one that is created meanwhile is then known before its containers are.
    const part = node && (await this.#inside(node, hasStorageRule(policies)));
    const rules = policies.flatMap((policy) => (isInvalid(policy) ? [] : (policy.pods?.terminated ?? [])));
    const labelKeys = podLabelKeys(policies);
    const pods = await this.#list(podsResource({ labelKeys: () => labelKeys }));
    // After the pods: a node that joins meanwhile must not look as if it were missing.
    const nodes = await this.#list(nodesResource());
    const namespaces = await this.#list(namespacesResource());
    const needsJobs = rules.some((rule) => rule.protectUnfinishedJobs);
    const needsReplicaSets = rules.some((rule) => rule.keepPerOwner > 0);
    const reports = (await this.#listIfAllowed(nodeReportsResource())) ?? new Map<string, never>();
    return {
      ...{ policies, nodes, pods, namespaces },
      jobs: needsJobs ? await this.#listIfAllowed(jobsResource()) : undefined,
      replicaSets: needsReplicaSets ? await this.#listIfAllowed(replicaSetsResource()) : undefined,
      parts: part === undefined ? [] : [part],
      reports: [...reports.values()].filter(({ name }) => name !== part?.name),
      notes: this.#notes,
    };
  }

  #inside(node: ThisNode, needsUsage: boolean): Promise<NodePart> {
    const [transport, connection, notes] = [this.#transport, this.#connection, this.#notes];
    return readThisNode(node, { transport, connection, needsUsage, notes }, this.#signal);
  }

  async #policies(): Promise<readonly (Policy | InvalidPolicy)[]> {
    try {
      const { objects } = await readPolicies(this.#transport, this.#signal);
      return rankPolicies(objects.map((object) => parsePolicy(object).policy));
    } catch (err) {
      if (!isNotFound(err)) throw new Error('reading policies', { cause: err });
      this.#notes.push(kindMissingNote);
      return [];
    }
  }

  async #list<T extends Identified>(resource: Resource<T>): Promise<ByUid<T>> {
    const objects = new Map<string, T>();
    const source = { transport: this.#transport, clock, random: Math.random, resource };
    try {
      for await (const { items } of listPages(source, this.#signal)) {
        for (const item of items) objects.set(item.uid, item);
        this.#onProgress(resource.name, objects.size);
      }
    } catch (err) {
      if (resource.optional && isNotFound(err)) return objects;
      throw new Error(`listing ${resource.name}`, { cause: err });
    }
    return objects;
  }

  /** undefined where this user may not read them: then what they would tell is not known. */
  async #listIfAllowed<T extends Identified>(resource: Resource<T>): Promise<ByUid<T> | undefined> {
    try {
      return await this.#list(resource);
    } catch (err) {
      if (!(err instanceof Error && err.cause instanceof ApiError && err.cause.status === 403)) throw err;
      this.#notes.push(`What ${resource.name} would tell is not known: ${errorLine(err)}.`);
      return undefined;
    }
  }
}
