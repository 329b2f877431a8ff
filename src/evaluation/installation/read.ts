import type { V1CustomResourceDefinition, V1Lease, V1SubjectAccessReview } from '@kubernetes/client-node';
import { inJson, nodesResource, podCodec } from '../../kube/cache/resources.ts';
import { asList, asObject, asObjects, asText, parseJson, type Unchecked } from '../../kube/codec/json.ts';
import { isForbidden, isNotFound, type KubeResponse, type KubeTransport } from '../../kube/http/transport.ts';
import { agentRights, controllerRights, leaseRight, rightText, type Right } from '../../api/policy/needs.ts';
import { pinsWanted } from '../../api/policy/matching.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type { Connected } from '../../process/connect.ts';
import { listObjects } from '../../process/list-objects.ts';
import { reportingControllers } from '../../kube/events/recorder.ts';
import { clusterLease } from '../../kube/lease/cluster-leader.ts';
import {
  waitsFor,
  whyNoAgents,
  type Blocked,
  type Controller,
  type Installation,
  type MissingRights,
  type OwnKind,
  type OwnPod,
  type Warning,
  type Workload,
} from './facts.ts';
import {
  blockedOf,
  leaseOf,
  nameOf,
  podHolding,
  podOf,
  policyNameOf,
  uidOf,
  warningOf,
  workloadOf,
  type WorkloadWithArgs,
} from './objects.ts';

/** On each object of the chart. */
const ownLabel = 'app.kubernetes.io/part-of=dustpan';

/** Reads what the reader may read, and names the rest. Rejects only if the API server does not answer. */
export async function readInstallation(
  cluster: Reader,
  {
    withBlocked,
    policies,
  }: { readonly withBlocked: boolean; readonly policies: readonly (Policy | InvalidPolicy)[] },
  signal: AbortSignal,
): Promise<Installation> {
  const read = new InstallationReader(cluster, signal);
  const [controllers, daemonSets, nodes, kinds, admissionPolicies, blocked] = await Promise.all([
    read.controllers(),
    read.workloads('DaemonSet'),
    read.nodes(),
    read.kinds(),
    read.admissionPolicies(),
    withBlocked ? read.blocked() : [],
  ]);
  const agents = daemonSets ?? read.withoutAgents(controllers);
  const workloads = [...(controllers ?? []), ...(agents ?? [])];
  const isComplete = workloads.every(({ desired, ready }) => ready >= desired);
  const namespaces = [...new Set(workloads.map(({ namespace }) => namespace))];
  const [leaseOfCluster, pods, warnings, missingRights] = await Promise.all([
    controllers === undefined || controllers.length === 0 ? read.lease(clusterLease) : undefined,
    isComplete ? [] : read.pods(),
    isComplete ? [] : read.warnings(namespaces),
    // Always: a watch goes on for minutes after its right was taken away.
    read.missingRights(controllers ?? [], agents ?? [], policies),
  ]);
  const { unread } = read;
  return {
    controllers,
    agents,
    clusterLease: leaseOfCluster,
    pods,
    warnings,
    missingRights,
    blocked,
    nodes,
    kinds,
    admissionPolicies,
    unread,
  };
}

/** The controllers alone: whether a policy is carried out now. */
export async function readControllers(
  cluster: Reader,
  signal: AbortSignal,
): Promise<readonly Controller[] | undefined> {
  return await new InstallationReader(cluster, signal).controllers();
}

/** The rights that the policies need and the ServiceAccount of each controller lacks, as far as the reader may ask. */
export async function rightsThatControllersLack(
  cluster: Reader,
  {
    controllers,
    policies,
  }: {
    readonly controllers: readonly Controller[];
    readonly policies: readonly (Policy | InvalidPolicy)[];
  },
  signal: AbortSignal,
): Promise<readonly Right[]> {
  const lacking = await new InstallationReader(cluster, signal).missingRights(controllers, [], policies);
  if (lacking.length === 0 || lacking.length < controllers.length) return [];
  // Those for its Leases are not meant.
  const texts = lacking.map(({ rights }) => rights.map(rightText));
  return controllerRights(policies).filter((right) => texts.every((of) => of.includes(rightText(right))));
}

type Reader = Pick<Connected, 'transport' | 'connection'>;

class InstallationReader {
  readonly #transport: KubeTransport;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  unread: readonly string[] = [];

  constructor({ transport, connection }: Reader, signal: AbortSignal) {
    this.#transport = transport;
    this.#namespace = connection.namespace ?? 'default';
    this.#signal = signal;
  }

  async controllers(): Promise<readonly Controller[] | undefined> {
    const deployments = await this.workloads('Deployment');
    return (
      deployments &&
      (await Promise.all(deployments.map(async (deployment) => await this.#withLease(deployment))))
    );
  }

  /** Where the chart has installed no agents, the right to list them is not missing; undefined = it is. */
  withoutAgents(controllers: readonly Controller[] | undefined): readonly Workload[] | undefined {
    if (whyNoAgents({ controllers, agents: [] }) === undefined) return undefined;
    this.unread = this.unread.filter((what) => !what.startsWith('daemonsets '));
    return [];
  }

  /** Of all namespaces; of the namespace of the kubeconfig's context if only those may be read. */
  async workloads(kind: Workload['kind']): Promise<readonly WorkloadWithArgs[] | undefined> {
    const name = kind === 'Deployment' ? 'deployments' : 'daemonsets';
    const found = await this.#listNamespaced('/apis/apps/v1', name, (json) => workloadOf(kind, json));
    return found?.filter(({ component }) => component === (kind === 'Deployment' ? 'controller' : 'agent'));
  }

  async pods(): Promise<readonly OwnPod[]> {
    return (await this.#listNamespaced('/api/v1', 'pods', podOf)) ?? [];
  }

  async warnings(namespaces: readonly string[]): Promise<readonly Warning[]> {
    const lists = namespaces.map(async (namespace) => {
      const path = inNamespace('/apis/events.k8s.io/v1', namespace, 'events');
      return await this.#list({ name: 'events', path, query: {} }, warningOf, `events in ${namespace}`);
    });
    return (await Promise.all(lists)).flatMap((list) => list ?? []);
  }

  async blocked(): Promise<readonly Blocked[]> {
    const query = { fieldSelector: `reportingController=${reportingControllers.controller}` };
    const collection = { name: 'events', path: '/apis/events.k8s.io/v1/events', query };
    const found = await this.#list(collection, blockedOf, 'events of all namespaces');
    const newest = (found ?? []).toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time));
    const pods = newest.filter(({ kind }) => kind === 'Pod').slice(0, maxBlockedPods);
    const read = new Map(
      await Promise.all(pods.map(async (event) => [event, await this.#podOf(event)] as const)),
    );
    return newest.map((event) => ({ ...event, pod: read.get(event) }));
  }

  /** The pod of an Event: its problem may have ended. A right that is missing for this is not worth a line. */
  async #podOf({ namespace, name }: Warning): Promise<Blocked['pod']> {
    const codec = podCodec(() => new Set());
    const resource = inJson(podNamed(namespace, name), (json) => codec.fromJson(json));
    try {
      const [pod] = await listObjects({ transport: this.#transport, resource }, this.#signal);
      return pod ?? 'gone';
    } catch (err) {
      if (isForbidden(err)) return undefined;
      throw err;
    }
  }

  async missingRights(
    controllers: readonly Controller[],
    agents: readonly Workload[],
    policies: readonly (Policy | InvalidPolicy)[],
  ): Promise<readonly MissingRights[]> {
    const ofController = controllerRights(policies);
    const found = [
      ...controllers.map((workload) => ({ workload, rights: [...ofController, ...leaseRightsOf(workload)] })),
      ...agents.map((workload) => ({ workload, rights: agentRights(pinsWanted(policies)) })),
    ].map(async ({ workload: { kind, namespace, serviceAccount }, rights }) => {
      const needed = rights.map(async (right) => {
        const { verb, group, resource, subresource, name } = right;
        const within = right.isLocal === true ? namespace : right.namespace;
        const isAllowed = await this.#isAllowed({
          user: `system:serviceaccount:${namespace}:${serviceAccount}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          resourceAttributes: { verb, group, resource, subresource, namespace: within, name },
        });
        return isAllowed === false ? [right] : [];
      });
      return { kind, namespace, serviceAccount, rights: (await Promise.all(needed)).flat() };
    });
    return (await Promise.all(found)).filter(({ rights }) => rights.length > 0);
  }

  async nodes(): Promise<Installation['nodes']> {
    const list = listObjects({ transport: this.#transport, resource: nodesResource() }, this.#signal);
    return await this.#unlessDenied(list, 'nodes');
  }

  async kinds(): Promise<readonly OwnKind[]> {
    const names = ['gcpolicies', 'nodegcreports'] as const;
    return (await Promise.all(names.map(async (name) => await this.#kind(name)))).flatMap(
      (kind) => kind ?? [],
    );
  }

  async admissionPolicies(): Promise<readonly string[] | undefined> {
    const name = 'validatingadmissionpolicies';
    const group = '/apis/admissionregistration.k8s.io/v1';
    const query = { labelSelector: ownLabel };
    const [policies, bound] = await Promise.all([
      this.#list({ name, path: `${group}/${name}`, query }, nameOf, name),
      this.#list(
        { name: `${name}bindings`, path: `${group}/validatingadmissionpolicybindings`, query },
        policyNameOf,
        'validatingadmissionpolicybindings',
      ),
    ]);
    return bound && policies?.filter((policy) => bound.includes(policy));
  }

  async #kind(name: OwnKind['name']): Promise<OwnKind | undefined> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}.gc.dustpan.dev`;
    const found = await this.#get(path, `customresourcedefinition ${name}.gc.dustpan.dev`);
    if (found === 'unread') return undefined;
    if (found === 'missing') return { name, isInstalled: false, unservedVersions: [] };
    const { spec, status } = asObject<V1CustomResourceDefinition>(parseJson(found.body));
    const served = asObjects(asObject(spec).versions)
      .filter((version) => version.served === true)
      .map((version) => asText(version.name));
    const stored = asList(asObject(status).storedVersions).map(asText);
    return {
      name,
      isInstalled: true,
      unservedVersions: stored.filter((version) => !served.includes(version)),
    };
  }

  async #withLease({ args, ...workload }: WorkloadWithArgs): Promise<Controller> {
    // As the program reads its arguments, the last one counts.
    const valueOf = (option: string): string | undefined =>
      args.findLast((arg) => arg.startsWith(`${option}=`))?.slice(option.length + 1);
    const namespace = valueOf('--leader-elect-resource-namespace') ?? workload.namespace;
    const name = valueOf('--leader-elect-resource-name') ?? 'dustpan-controller';
    const controller = { ...workload, leaseName: { namespace, name } };
    if (valueOf('--leader-elect') === 'false') return { ...controller, lease: 'off' };
    const led = { ...controller, lease: await this.lease(controller.leaseName) };
    return { ...led, waitsFor: waitsFor(led, await this.lease(clusterLease)) };
  }

  async lease({ namespace, name }: Controller['leaseName']): Promise<Exclude<Controller['lease'], 'off'>> {
    const path = `${inNamespace('/apis/coordination.k8s.io/v1', namespace, 'leases')}/${encodeURIComponent(name)}`;
    const found = await this.#get(path, `lease ${namespace}/${name}`);
    if (found === 'unread') return 'unknown';
    if (found === 'missing') return undefined;
    const stored = asObject<V1Lease>(parseJson(found.body));
    const lease = leaseOf(stored, found.headers);
    return (await this.#isGone(stored, lease.holder)) ? { ...lease, holder: '' } : lease;
  }

  /** Whether the pod of the holder exists no more: after an uninstallation the Lease still names it. */
  async #isGone(lease: Unchecked<V1Lease>, holder: string): Promise<boolean> {
    const pod = podHolding(lease, holder);
    if (pod === undefined) return false;
    const { namespace, name } = pod;
    const found = await this.#list(podNamed(namespace, name), uidOf, `pods in ${namespace}`);
    return found?.every((uid) => uid !== pod.uid) === true;
  }

  async #get(path: string, what: string): Promise<KubeResponse | 'unread' | 'missing'> {
    const response = this.#transport.send({ method: 'GET', path }, this.#signal);
    try {
      const found = await this.#unlessDenied(response, what);
      return found ?? 'unread';
    } catch (err) {
      if (isNotFound(err)) return 'missing';
      throw err;
    }
  }

  /** undefined = the reader may not ask. */
  async #isAllowed(spec: object): Promise<boolean | undefined> {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    try {
      const response = await this.#transport.send({ method: 'POST', path, body }, this.#signal);
      const { status } = asObject<V1SubjectAccessReview>(parseJson(response.body));
      return asObject(status).allowed === true;
    } catch (err) {
      if (isForbidden(err)) return undefined;
      throw err;
    }
  }

  async #listNamespaced<T>(
    group: string,
    name: string,
    fromJson: (json: unknown) => T | undefined,
  ): Promise<readonly T[] | undefined> {
    const query = { labelSelector: ownLabel };
    const everywhere = `${name} of all namespaces`;
    const all = await this.#list({ name, path: `${group}/${name}`, query }, fromJson, everywhere);
    if (all !== undefined) return all;
    const path = inNamespace(group, this.#namespace, name);
    const some = await this.#list({ name, path, query }, fromJson, `${name} in ${this.#namespace}`);
    // They may be in a namespace that the reader may not read.
    if (some === undefined || some.length === 0) return undefined;
    // Nothing of the release is missing then.
    this.unread = this.unread.filter((what) => what !== everywhere);
    return some;
  }

  /** Without the objects of which `fromJson` makes undefined. A kind that the API server does not have has no objects. */
  async #list<T>(
    collection: Parameters<typeof inJson>[0],
    fromJson: (json: unknown) => T | undefined,
    what: string,
  ): Promise<readonly T[] | undefined> {
    const resource = inJson(collection, fromJson);
    try {
      const list = listObjects({ transport: this.#transport, resource }, this.#signal);
      return (await this.#unlessDenied(list, what))?.flatMap((item) => item ?? []);
    } catch (err) {
      if (isNotFound(err)) return [];
      throw err;
    }
  }

  async #unlessDenied<T>(response: Promise<T>, what: string): Promise<T | undefined> {
    try {
      return await response;
    } catch (err) {
      if (!isForbidden(err)) throw err;
      this.unread = [...this.unread, what];
      return undefined;
    }
  }
}

const inNamespace = (group: string, namespace: string, name: string): string =>
  `${group}/namespaces/${encodeURIComponent(namespace)}/${name}`;

const podNamed = (namespace: string, name: string) => ({
  name: 'pods',
  path: inNamespace('/api/v1', namespace, 'pods'),
  query: { fieldSelector: `metadata.name=${name}` },
});

/** Its roles name the Leases. */
const leaseRightsOf = ({ lease, leaseName }: Controller): readonly Right[] =>
  lease === 'off' ? [] : [leaseName, clusterLease].map(leaseRight);

/** Each costs a request. The controller names at most eight pods of a cause in a pass. */
const maxBlockedPods = 50;
