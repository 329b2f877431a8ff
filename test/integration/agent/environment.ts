import { memoryFlags } from '../../../src/daemon/agent/command.ts';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeGCReportStatus } from '../../../src/api/gen/nodegcreport.gen.ts';
import { onTestFailed, type TestContext } from 'vitest';
import { startCriSandbox, type CriSandbox, type CriSandboxOptions } from '../../sandbox/cri/server.ts';
import type { Manifest } from '../../sandbox/api/direct-store.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/server.ts';
import { built, RunningDustpan } from '../built.ts';
import { policyManifest, unheldNodes } from '../../manifests.ts';

export const nodeName = 'node-1';

/** The directories of a node, with an API server, a container runtime and agents. */
export class AgentEnvironment implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), 'dustpan-agent-'));
  readonly agents: RunningAgent[] = [];
  readonly #onFailed: typeof onTestFailed;
  #api: Sandbox | undefined;
  #cri: CriSandbox | undefined;

  /** Concurrent tests give the hook of their context. */
  constructor(onFailed = onTestFailed) {
    this.#onFailed = onFailed;
    for (const directory of ['state', 'pods', 'containers', 'kubelet', 'images', 'overlay-images'])
      mkdirSync(this.path(directory));
  }

  /** A node whose API server and container runtime run, for a concurrent test. */
  static async open(
    { onTestFailed }: Pick<TestContext, 'onTestFailed'>,
    options: SandboxOptions = {},
    cri: Partial<CriSandboxOptions> = {},
  ): Promise<AgentEnvironment> {
    const bed = new AgentEnvironment(onTestFailed);
    await bed.startApi(options);
    await bed.startCri(cri);
    return bed;
  }

  get api(): Sandbox {
    if (this.#api === undefined) throw new Error('no API server was started');
    return this.#api;
  }

  get cri(): CriSandbox {
    if (this.#cri === undefined) throw new Error('no runtime was started');
    return this.#cri;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** An API server with the node. */
  async startApi(options: SandboxOptions = {}): Promise<Sandbox> {
    const api = (this.#api = await startSandbox(options));
    api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
    return api;
  }

  async startCri(options: Partial<CriSandboxOptions> = {}): Promise<CriSandbox> {
    const logs = { pods: this.path('pods'), containers: this.path('containers') };
    const socket = this.path('cri.sock');
    const mountpoint = this.path(options.flavour === 'cri-o' ? 'overlay-images' : 'images');
    this.#cri = await startCriSandbox({ socket, logs, mountpoint, ...options });
    return this.#cri;
  }

  startAgent(
    args: readonly string[] = [],
    { kubeconfig = this.api.kubeconfigFile }: { readonly kubeconfig?: string } = {},
  ): RunningAgent {
    const flags = [
      `--node-name=${nodeName}`,
      `--kubeconfig=${kubeconfig}`,
      `--cri-socket=${this.path('cri.sock')}`,
      `--state-dir=${this.path('state')}`,
      `--pod-logs-dir=${this.path('pods')}`,
      `--container-logs-dir=${this.path('containers')}`,
      `--kubelet-root-dir=${this.path('kubelet')}`,
      '--container-gc-period=1s',
      '--image-gc-period=1s',
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
    ];
    const agent = new RunningAgent([...flags, ...args]);
    this.agents.push(agent);
    this.#onFailed(() => {
      process.stderr.write(`${agent.stdout}${agent.stderr}`);
    });
    return agent;
  }

  /** The Node object, with these labels. */
  node(labels: Readonly<Record<string, string>> = {}): void {
    this.api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName, labels } });
  }

  /** A pod of the node as the API server has it. */
  apiPod(name: string, { uid, image, phase }: { uid: string; image: string; phase: string }): void {
    this.api.store.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid },
      spec: { nodeName, containers: [{ name: 'main', image }] },
      status: { phase },
    });
  }

  /** The status of the node's report. */
  report(): NodeGCReportStatus | undefined {
    return this.api.store.get('NodeGCReport', nodeName)?.['status'] as NodeGCReportStatus | undefined;
  }

  /** `True AsPlanned` of the report. */
  condition(type: string): string | undefined {
    const found = this.report()?.conditions?.find((condition) => condition.type === type);
    return found && `${found.status} ${found.reason}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.stop()));
    this.#cri?.stop();
    await this.#api?.stop();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** An agent with the Node flags of its memory budget. */
export class RunningAgent extends RunningDustpan {
  constructor(args: readonly string[]) {
    super([...memoryFlags.split(' '), built.main, 'agent', ...args]);
  }
}

/** A policy that governs every node. */
export const nodesPolicy = (mode: 'DryRun' | 'Enforce', nodes: object): Manifest =>
  policyManifest('default', { mode, nodes: unheldNodes(nodes) });
