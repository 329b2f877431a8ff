import { isFinished } from '../../api/pod-phase.ts';
import { rightText, type Right } from '../../api/policy/needs.ts';
import { neededOwners, needsUsageOf, pinsWanted, podLabelKeys } from '../../api/policy/matching.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import { readList } from '../../kube/cache/list-watch.ts';
import { inForceIn } from '../../gc/hold.ts';
import { openBreakersIn } from '../../gc/open-breaker.ts';
import { LiveReads } from '../../kube/actions/live-reads.ts';
import { readWantedList } from '../../kube/actions/wanted-list.ts';
import { reportsWithUsage } from '../../kube/cache/reports-with-usage.ts';
import { parseJson } from '../../kube/codec/json.ts';
import type { Identified, NamespaceFacts, PodFacts } from '../../kube/cache/objects.ts';
import {
  jobsResource,
  namespaceCodec,
  namespacesResource,
  nodesResource,
  podsResource,
  replicaSetsResource,
  type Resource,
} from '../../kube/cache/resources.ts';
import { ApiError, isDenied, isNotFound } from '../../kube/http/transport.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { nearestNames } from '../../runtime/text/nearest.ts';
import type { OnProgress } from '../../snapshot/files.ts';
import { proposedPolicies } from '../../snapshot/policies.ts';
import {
  kindMissing,
  reportedBy,
  type ByUid,
  type PlanFacts,
  type PodPart,
} from '../../snapshot/plan-facts.ts';
import { usingCluster, type Connected } from '../../process/connect.ts';
import { withMissingRight } from '../../process/denied.ts';
import { readThroughAgents } from '../node/agent-read.ts';
import { UsageError } from '../../process/exit.ts';
import { isLed, whyNoAgents, type Controller } from '../installation/facts.ts';
import { readControllers, rightsThatControllersLack } from '../installation/read.ts';
import { adviceOnNodes } from './notes.ts';
import { readThisNode } from '../node/local-node.ts';
import type { FactsInputs } from './inputs.ts';

type LiveConfig = Pick<FactsInputs, 'kube' | 'given' | 'node' | 'through' | 'filter'>;

/** Reads the cluster of the kubeconfig and, with `--cri-socket`, this node; rejects when an object that every plan needs cannot be read. */
export const readCluster = (config: LiveConfig, onProgress: OnProgress): Promise<PlanFacts> =>
  usingCluster(config.kube, (cluster) =>
    new ClusterReader({ ...cluster, silenceMs: config.kube.requestTimeoutMs }, onProgress).read(config),
  );

/** A wrong name is the mistake of the user; all others are problems of the node. */
function refuseUnknownNodes(
  unread: readonly { readonly name: string }[],
  nodes: ByUid<{ readonly name: string }>,
): void {
  const known = [...nodes.values()].map(({ name }) => name);
  const wrong = unread.filter(({ name }) => !known.includes(name));
  if (wrong.length > 0)
    throw new UsageError(
      wrong.map(({ name }) => `--node: there is no node ${name}${nearestNames(name, known)}`),
    );
}

function finishedNote(pods: readonly PodFacts[]): string {
  const finished = pods.filter(isFinished).length;
  return `Finished pods: ${finished} of the ${pods.length} that may be listed; only a policy deletes them.`;
}

const isForbidden = (err: unknown): boolean =>
  err instanceof Error && err.cause instanceof ApiError && err.cause.status === 403;

class ClusterReader {
  readonly #cluster: Connected & { readonly silenceMs: number };
  readonly #onProgress: OnProgress;
  readonly #notes: string[] = [];
  #reported: Pick<PlanFacts, 'openBreakers' | 'inForce'> = {};
  /** Set for the owner of a namespace, who may list no other pods. */
  #part: (PodPart & { readonly namespace: string }) | undefined;
  /** Never aborted: only the end of the process stops a plan. */
  readonly #signal = new AbortController().signal;

  constructor(cluster: Connected & { readonly silenceMs: number }, onProgress: OnProgress) {
    this.#cluster = cluster;
    this.#onProgress = onProgress;
  }

  async read({ given, node, through, filter }: LiveConfig): Promise<PlanFacts> {
    const replaced = given.files.length > 0 ? await this.#replaced() : undefined;
    const { namespace, selector } = filter;
    const policies =
      replaced === undefined ? await this.#policies(namespace) : await proposedPolicies(given, replaced);
    const all = [...(policies ?? []), ...(replaced ?? [])];
    // The node is read before the pods: a pod that is created meanwhile is then known, though its containers are not.
    const needsUsage = needsUsageOf(all);
    const { parts, unread } = await this.#nodes({ node, through }, needsUsage);
    const labelKeys = podLabelKeys(all, selector);
    const pods = await this.#pods(labelKeys, namespace);
    if (policies === undefined) this.#notes.push(finishedNote([...pods.values()]));
    // Nodes are read after the pods: a node that joins meanwhile must not seem to be missing.
    const nodes = await this.#listOrAbsent(nodesResource());
    if (nodes !== undefined) refuseUnknownNodes(unread, nodes);
    const namespaces =
      this.#part === undefined
        ? await this.#list(namespacesResource())
        : await this.#ownNamespace(this.#part.namespace);
    const controllers = await readControllers(this.#cluster, this.#signal);
    const reports = await this.#listIfAllowed(reportsWithUsage());
    const noAgents = reports?.size === 0 ? this.#noAgents(controllers, all) : undefined;
    const lacking = await this.#lacking(all, controllers ?? []);
    const owners = await this.#owners(neededOwners(all), lacking);
    return {
      takenAt: clock.now(),
      policies,
      replaced,
      nodes,
      pods,
      namespaces,
      ...this.#reported,
      ...owners,
      wanted: await this.#wanted(all, controllers),
      moreNodes: adviceOnNodes({ node, through }),
      noAgents,
      parts,
      unread,
      part: this.#part,
      ...reportedBy(
        noAgents === true ? undefined : reports,
        parts.map(({ name }) => name),
      ),
      idle: this.#idle(controllers),
      notes: this.#notes,
    };
  }

  /** Where no agent should run, none is missing. */
  #noAgents(
    controllers: readonly Controller[] | undefined,
    policies: readonly (Policy | InvalidPolicy)[],
  ): true | undefined {
    const why = whyNoAgents({ controllers, agents: [] });
    if (why === undefined) return undefined;
    if (policies.some(({ nodes }) => nodes !== undefined))
      this.#notes.push(`No agents on nodes: ${why}, so spec.nodes of policies has no effect.`);
    return true;
  }

  /** The owners of pods that policies need, as far as this user may list and the controller may watch them: it keeps what depends on the others. */
  async #owners(
    needed: ReturnType<typeof neededOwners>,
    lacking: readonly Right[],
  ): Promise<Pick<PlanFacts, 'jobs' | 'replicaSets' | 'isBlindToOwners'>> {
    const mayWatch = (name: string): boolean => !lacking.some(({ resource }) => resource === name);
    const readsJobs = needed.jobs && mayWatch('jobs');
    const readsSets = needed.replicaSets && mayWatch('replicasets');
    return {
      jobs: readsJobs ? await this.#listIfAllowed(jobsResource()) : undefined,
      replicaSets: readsSets ? await this.#listIfAllowed(replicaSetsResource()) : undefined,
      isBlindToOwners: readsJobs === needed.jobs && readsSets === needed.replicaSets ? undefined : true,
    };
  }

  /** undefined = no policy needs them. */
  async #wanted(
    policies: readonly (Policy | InvalidPolicy)[],
    controllers: readonly Controller[] | undefined,
  ): Promise<PlanFacts['wanted']> {
    if (!pinsWanted(policies)) return undefined;
    return await readWantedList(this.#cluster.transport, controllers?.[0]?.namespace, this.#signal);
  }

  /** The rights that the policies need and the controller lacks, whatever this user may do. */
  async #lacking(
    policies: readonly (Policy | InvalidPolicy)[],
    controllers: readonly Controller[],
  ): Promise<readonly Right[]> {
    const lacking = await rightsThatControllersLack(this.#cluster, { controllers, policies }, this.#signal);
    if (lacking.length > 0)
      this.#notes.push(
        `The ServiceAccount of the controller may not ${lacking.map(rightText).join(', ')}: it does nothing that needs this. See dustpan status.`,
      );
    return lacking;
  }

  #idle(controllers: readonly Controller[] | undefined): true | undefined {
    if (controllers?.every((controller) => isLed(controller) === false) !== true) return undefined;
    if (controllers.length === 0) {
      this.#notes.unshift(
        'The cluster has no Deployment of dustpan: unless a controller runs elsewhere, nothing removes pods now. See dustpan status.',
      );
      return undefined;
    }
    this.#notes.unshift('Nothing removes pods now: no controller leads. See dustpan status.');
    return true;
  }

  /** The pods of the cluster; of the namespace alone where its owner may list no others. */
  async #pods(labelKeys: ReadonlySet<string>, namespace: string | undefined): Promise<ByUid<PodFacts>> {
    const resource = { labelKeys: () => labelKeys };
    try {
      return await this.#list(podsResource(resource));
    } catch (err) {
      if (namespace === undefined || !isForbidden(err)) throw err;
      this.#part = { namespace, selector: undefined };
      this.#notes.push(
        `Only the pods of namespace ${namespace} may be listed: which pods a threshold of several namespaces deletes is not known.`,
      );
      return await this.#list(podsResource({ ...resource, namespace }));
    }
  }

  /** The owner of a namespace may not list what the cluster has. */
  async #listOrAbsent<T extends Identified>(resource: Resource<T>): Promise<ByUid<T> | undefined> {
    return this.#part ? await this.#listIfAllowed(resource) : await this.#list(resource);
  }

  /** Its labels: the role `view` in a namespace has the right to get it. */
  async #ownNamespace(name: string): Promise<ByUid<NamespaceFacts> | undefined> {
    const path = `/api/v1/namespaces/${name}`;
    try {
      const { body } = await this.#cluster.transport.send({ method: 'GET', path }, this.#signal);
      const found = namespaceCodec().fromJson(parseJson(body));
      return new Map([[found.uid, found]]);
    } catch (err) {
      if (isNotFound(err)) return new Map();
      if (!(err instanceof ApiError)) throw err;
      this.#notes.push(`Namespace ${name} cannot be read, so its pods are kept: ${errorLine(err)}.`);
      return undefined;
    }
  }

  /** Reads the objects on this node, and on others through their agents. */
  async #nodes(
    { node, through }: Pick<LiveConfig, 'node' | 'through'>,
    needsUsage: boolean,
  ): Promise<Required<Pick<PlanFacts, 'parts' | 'unread'>>> {
    const given = { ...this.#cluster, needsUsage, notes: this.#notes };
    const own = node === undefined ? [] : [await readThisNode(node, given, this.#signal)];
    if (through === undefined) return { parts: own, unread: [] };
    const onProgress = (nodes: number): void => this.#onProgress('nodes, through their agents', nodes);
    const { parts, unread, notes } = await readThroughAgents(
      through,
      { ...given, onProgress, except: node?.name },
      this.#signal,
    );
    this.#notes.push(...notes);
    return { parts: [...own, ...parts], unread };
  }

  /** The policies in force, to compare with; none where they cannot be read. */
  async #replaced(): Promise<readonly (Policy | InvalidPolicy)[]> {
    try {
      return await this.#inForce();
    } catch (err) {
      if (isNotFound(err)) return [];
      if (!(err instanceof ApiError)) throw err;
      this.#notes.push(
        `The policies in force are not known: the plan has only those of --policy, and compares with none: ${errorLine(err)}.`,
      );
      return [];
    }
  }

  /** undefined where the owner of a namespace may not list them. */
  async #policies(namespace: string | undefined): Promise<readonly (Policy | InvalidPolicy)[] | undefined> {
    try {
      return await this.#inForce();
    } catch (err) {
      if (namespace !== undefined && isDenied(err)) {
        this.#notes.push(`The policies may not be read: ${withMissingRight(errorLine(err))}.`);
        return undefined;
      }
      throw isNotFound(err) ? kindMissing() : new Error('reading policies', { cause: err });
    }
  }

  async #inForce(): Promise<readonly (Policy | InvalidPolicy)[]> {
    const { policies } = await new LiveReads(this.#cluster.transport, clock).policies(this.#signal);
    const { ranked, statuses } = policies;
    this.#reported = { openBreakers: openBreakersIn(statuses), inForce: inForceIn(statuses) };
    return ranked;
  }

  async #list<T extends Identified>(resource: Resource<T>): Promise<ByUid<T>> {
    const source = { transport: this.#cluster.transport, clock, random: Math.random, resource };
    const collecting = {
      begin: () => new Map<string, T>(),
      add: (objects: Map<string, T>, item: T) => {
        objects.set(item.uid, item);
        this.#onProgress(resource.name, objects.size);
      },
    };
    try {
      const { list } = await readList(source, collecting, this.#signal);
      return list;
    } catch (err) {
      if (resource.optional && isNotFound(err)) return new Map();
      throw new Error(`listing ${resource.name}`, { cause: err });
    }
  }

  /** undefined where this user may not list them; a note says so. */
  async #listIfAllowed<T extends Identified>(resource: Resource<T>): Promise<ByUid<T> | undefined> {
    try {
      return await this.#list(resource);
    } catch (err) {
      if (!isForbidden(err)) throw err;
      this.#notes.push(`The ${resource.name} are not known: ${errorLine(err)}.`);
      return undefined;
    }
  }
}
