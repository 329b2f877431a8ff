import { CriConnection } from '../../src/cri/connection.ts';
import type { PodSandboxConfig } from '../sandbox/cri/gen/node.ts';
import {
  ContainerConfig,
  NamespaceMode,
  PodSandboxConfig as Pod,
  RuntimeServiceDefinition,
} from '../sandbox/cri/gen/node.ts';

export interface BedImage {
  readonly id: string;
  /** Whole references, in the order they were asked for. */
  readonly tags: readonly string[];
}

/** A container runtime under test, the sandbox or a real one: the same suite runs against both, so that the sandbox cannot drift. */
export interface CriBed {
  readonly socket: string;
  /** Below it pods have their log directories. */
  readonly logRoot: string;
  /** A new image, with a shell, by one or more tags. */
  image(tags: readonly string[], options?: { readonly pinned?: boolean }): Promise<BedImage>;
  /** The runtime takes connections and answers nothing. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** It is killed, and comes back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type StartCriBed = () => Promise<CriBed>;

interface PodChoice {
  readonly name: string;
  readonly attempt?: number;
}

export interface ContainerChoice {
  readonly name: string;
  readonly image: string;
  readonly attempt?: number;
  /** Of its shell; default: runs until it is stopped. */
  readonly script?: string;
}

const deadlineMs = 60_000;
const hostNetwork = {
  securityContext: { namespaceOptions: { network: NamespaceMode.NODE } },
};
const labels = { 'io.kubernetes.pod.namespace': 'default', unusual: 'ä/–"\n' };

/** The kubelet's side of the CRI, by calls that dustpan never makes. */
export class KubeletHand {
  readonly #connection: CriConnection;
  readonly #logRoot: string;
  readonly #signal = new AbortController().signal;

  constructor(bed: CriBed) {
    this.#connection = new CriConnection(bed.socket);
    this.#logRoot = bed.logRoot;
  }

  /** The id of the new sandbox. */
  runPod(pod: PodChoice): Promise<string> {
    const { runPodSandbox } = RuntimeServiceDefinition.methods;
    return this.#connection.ask(
      [RuntimeServiceDefinition, runPodSandbox, ({ podSandboxId }) => podSandboxId],
      { request: { config: this.#config(pod), runtimeHandler: '' }, deadlineMs },
      this.#signal,
    );
  }

  /** The id of the new container, which does not run yet. */
  create(pod: PodChoice, podSandboxId: string, choice: ContainerChoice): Promise<string> {
    const { createContainer } = RuntimeServiceDefinition.methods;
    const config = ContainerConfig.fromPartial({
      metadata: { name: choice.name, attempt: choice.attempt ?? 0 },
      image: { image: choice.image },
      command: ['/bin/sh', '-c', choice.script ?? 'sleep 100000'],
      labels: { ...labels, 'io.kubernetes.container.name': choice.name },
      annotations: { 'io.kubernetes.container.restartCount': String(choice.attempt ?? 0) },
      logPath: `${choice.name}/${choice.attempt ?? 0}.log`,
      linux: hostNetwork,
    });
    return this.#connection.ask(
      [RuntimeServiceDefinition, createContainer, ({ containerId }) => containerId],
      { request: { podSandboxId, config, sandboxConfig: this.#config(pod) }, deadlineMs },
      this.#signal,
    );
  }

  start(containerId: string): Promise<void> {
    const { startContainer } = RuntimeServiceDefinition.methods;
    return this.#connection.ask(
      [RuntimeServiceDefinition, startContainer, () => undefined],
      { request: { containerId }, deadlineMs },
      this.#signal,
    );
  }

  close(): void {
    this.#connection.close();
  }

  #config({ name, attempt = 0 }: PodChoice): PodSandboxConfig {
    return Pod.fromPartial({
      metadata: { name, namespace: 'default', uid: `uid-of-${name}`, attempt },
      logDirectory: `${this.#logRoot}/default_${name}_uid-of-${name}`,
      labels: { ...labels, 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.uid': `uid-of-${name}` },
      annotations: { 'kubernetes.io/config.source': 'api' },
      linux: hostNetwork,
    });
  }
}
