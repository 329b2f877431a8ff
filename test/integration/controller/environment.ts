import type { Manifest } from '../../sandbox/api/direct-store.ts';
import {
  startSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxRequest,
} from '../../sandbox/server.ts';
import { RunningController } from '../built.ts';
import { policyManifest, unheldPods } from '../../manifests.ts';

export const policy = (
  mode: 'DryRun' | 'Enforce',
  pods: object = { terminated: { ttlAfterFinished: '0s' } },
): Manifest => policyManifest('default', { mode, pods: unheldPods(pods) });

/** A pod of a node. */
export const podOn = (nodeName: string, name: string, phase: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
  status: { phase },
});

/** The Deployment by which commands find the controller, as the chart names and labels it. */
export const controllerDeployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'dustpan-system',
    name: 'dustpan-controller',
    labels: { 'app.kubernetes.io/part-of': 'dustpan', 'app.kubernetes.io/component': 'controller' },
  },
};

/** Finished pods p0000, p0001, … on a node that exists, and the namespace of the lease. */
export function fillCluster(sandbox: Sandbox, count: number): void {
  sandbox.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dustpan-system' } });
  sandbox.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  for (let i = 0; i < count; i++)
    sandbox.store.apply(podOn('node-1', `p${String(i).padStart(4, '0')}`, 'Succeeded'));
}

/** An API server with finished pods, and controllers. */
export class ControllerEnvironment implements AsyncDisposable {
  readonly api: Sandbox;
  readonly #running: RunningController[] = [];

  private constructor(api: Sandbox) {
    this.api = api;
  }

  static async open({
    pods = 0,
    ...options
  }: SandboxOptions & { readonly pods?: number } = {}): Promise<ControllerEnvironment> {
    const api = await startSandbox(options);
    fillCluster(api, pods);
    return new ControllerEnvironment(api);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((controller) => controller.stop()));
    await this.api.stop();
  }

  start(kubeconfig = this.api.kubeconfigFile, args: readonly string[] = []): RunningController {
    const controller = new RunningController(kubeconfig, args);
    this.#running.push(controller);
    return controller;
  }

  get podCount(): number {
    return this.api.store.list('Pod').length;
  }

  /** The requests that change or delete a pod. */
  get writes(): readonly SandboxRequest[] {
    return this.api.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/pods'));
  }

  /** The holder of the lease; '' = released. */
  get holder(): unknown {
    const lease = this.api.store.get('Lease', 'dustpan-controller', 'dustpan-system');
    return (lease?.['spec'] as Record<string, unknown> | undefined)?.['holderIdentity'];
  }

  /** `True Tripped` of the policy `default`. */
  condition(type: string): string | undefined {
    const status = this.api.store.get('GCPolicy', 'default')?.['status'] as
      { conditions?: { type: string; status: string; reason: string }[] } | undefined;
    const found = status?.conditions?.find((condition) => condition.type === type);
    return found && `${found.status} ${found.reason}`;
  }
}
