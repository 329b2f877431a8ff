import { randomUUID } from 'node:crypto';
import type { LivePod } from '../../../src/kube/actions/live-reads.ts';
import { Objects } from './objects.ts';

interface Budget {
  readonly spec: { readonly minAvailable: number };
  readonly status?: { readonly observedGeneration?: number; readonly disruptionsAllowed?: number };
  readonly metadata: { readonly generation: number };
}

/** Running pods and the budgets that cover them. */
export class Budgets extends Objects {
  /** False: no controller computes the allowed disruptions, so the test writes them. */
  readonly #hasController: boolean;

  constructor(transport: ConstructorParameters<typeof Objects>[0], hasController: boolean) {
    super(transport);
    this.#hasController = hasController;
  }

  /** A running, ready pod with the label `app`. */
  async runningPod(
    app = `app-${randomUUID().slice(0, 8)}`,
  ): Promise<Pick<LivePod, 'namespace' | 'name' | 'uid' | 'resourceVersion'> & { readonly app: string }> {
    const { metadata } = await this.createPod();
    const { namespace, name, uid } = metadata;
    await this.patchPod(name, { metadata: { labels: { app } } });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await this.patch(path, { status: { phase: 'Running', conditions } });
    const { resourceVersion } = (await this.readPod(name)).metadata;
    return { namespace, name, uid, resourceVersion, app };
  }

  /** A budget over the pods of `app`, of which `healthy` are ready; resolves when the server counts it. */
  async budget(
    app: string,
    { minAvailable, healthy = 1 }: { minAvailable: number; healthy?: number },
  ): Promise<string> {
    const name = `budget-${randomUUID().slice(0, 8)}`;
    const spec = { minAvailable, selector: { matchLabels: { app } } };
    const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec };
    await this.post(this.#path(), body);
    await this.#settled(name, healthy);
    return name;
  }

  /** Lowers the budget's minimum; resolves when the server has counted it. */
  async relax(name: string, minAvailable: number): Promise<void> {
    await this.patch(this.#path(name), { spec: { minAvailable } });
    await this.#settled(name, 1);
  }

  async #settled(name: string, healthy: number): Promise<void> {
    const { metadata, spec } = await this.#read(name);
    const allowed = Math.max(0, healthy - spec.minAvailable);
    const counts = { currentHealthy: healthy, desiredHealthy: spec.minAvailable, expectedPods: healthy };
    if (!this.#hasController) {
      const status = { observedGeneration: metadata.generation, disruptionsAllowed: allowed, ...counts };
      await this.patch(`${this.#path(name)}/status`, { status });
    }
    const deadline = Date.now() + 90_000;
    for (;;) {
      const { status = {} } = await this.#read(name);
      const isCounted = (status.observedGeneration ?? 0) >= metadata.generation;
      if (isCounted && status.disruptionsAllowed === allowed) return;
      if (Date.now() > deadline) throw new Error(`${name} is not counted: ${JSON.stringify(status)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #read(name: string): Promise<Budget> {
    return JSON.parse((await this.request({ method: 'GET', path: this.#path(name) })).toString()) as Budget;
  }

  #path(name?: string): string {
    const path = `/apis/policy/v1/namespaces/${this.namespace}/poddisruptionbudgets`;
    return name === undefined ? path : `${path}/${name}`;
  }
}
