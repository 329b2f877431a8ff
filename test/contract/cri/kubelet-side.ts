import { Client, credentials } from '@grpc/grpc-js';
import { pullService, runtimeService } from '../../sandbox/cri/definitions.ts';

interface TestImage {
  readonly id: string;
  /** Full references in the requested order. */
  readonly tags: readonly string[];
}

interface PushedImage {
  readonly id: string;
  /** The digest of its manifest, or of the index that has its manifest. */
  readonly digest: string;
}

/** A container runtime under test, the sandbox or a real one: the same suite runs against both, so that the sandbox cannot drift. */
export interface RuntimeUnderTest {
  readonly socket: string;
  /** The parent of the pods' log directories. */
  readonly logRoot: string;
  /** containerd 1.7 names its sandbox image, and an image in use by `imageRef` alone. */
  readonly isContainerd17?: boolean;
  /** A new image, with a shell, by one or more tags: imported, not pulled. */
  image(tags: readonly string[]): Promise<TestImage>;
  /** Pushes a new image under these references to the registry that the runtime pulls from, or an index of it and of an image for another architecture. */
  push(references: readonly string[], options?: { readonly index?: boolean }): Promise<PushedImage>;
  /** The runtime accepts connections and never responds. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** It is killed, and comes back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface PodChoice {
  readonly name: string;
  readonly attempt?: number;
}

export interface ContainerChoice {
  readonly name: string;
  readonly image: string;
  readonly attempt?: number;
  /** A shell script; default: runs until it is stopped. */
  readonly script?: string;
}

const deadlineMs = 60_000;
const linux = { securityContext: { namespaceOptions: { network: 'NODE' } } };
const labels = { 'io.kubernetes.pod.namespace': 'default', unusual: 'ä/–"\n' };

/** The kubelet's side of the CRI: the calls that dustpan never makes. */
export class KubeletSide {
  readonly #client: Client;
  readonly #logRoot: string;

  constructor(target: RuntimeUnderTest) {
    const options = { 'grpc.default_authority': 'localhost', 'grpc.enable_http_proxy': 0 };
    this.#client = new Client(`unix://${target.socket}`, credentials.createInsecure(), options);
    this.#logRoot = target.logRoot;
  }

  /** The id of the new sandbox. */
  async runPod(pod: PodChoice): Promise<string> {
    const { podSandboxId = '' } = await this.#call('RunPodSandbox', { config: this.#config(pod) });
    return podSandboxId;
  }

  /** The id of the new container, which does not run yet. */
  async create(pod: PodChoice, podSandboxId: string, choice: ContainerChoice): Promise<string> {
    const config = {
      metadata: { name: choice.name, attempt: choice.attempt ?? 0 },
      image: { image: choice.image },
      command: ['/bin/sh', '-c', choice.script ?? 'sleep 100000'],
      labels: { ...labels, 'io.kubernetes.container.name': choice.name },
      annotations: { 'io.kubernetes.container.restartCount': String(choice.attempt ?? 0) },
      logPath: `${choice.name}/${choice.attempt ?? 0}.log`,
      linux,
    };
    const request = { podSandboxId, config, sandboxConfig: this.#config(pod) };
    const { containerId = '' } = await this.#call('CreateContainer', request);
    return containerId;
  }

  async start(containerId: string): Promise<void> {
    await this.#call('StartContainer', { containerId });
  }

  /** The id of the pulled image. */
  async pull(reference: string): Promise<string> {
    const { imageRef = '' } = await this.#call('PullImage', { image: { image: reference } });
    return imageRef;
  }

  close(): void {
    this.#client.close();
  }

  #call(name: string, request: object): Promise<Readonly<Record<string, string>>> {
    const method = { ...runtimeService, ...pullService }[name];
    if (method === undefined) throw new Error(`no method ${name}`);
    const { path, requestSerialize, responseDeserialize } = method;
    const deadline = new Date(Date.now() + deadlineMs);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        { deadline },
        (err, response) => {
          if (err === null) resolve(response as Readonly<Record<string, string>>);
          else reject(err);
        },
      );
    });
  }

  #config({ name, attempt = 0 }: PodChoice): object {
    return {
      metadata: { name, namespace: 'default', uid: `uid-of-${name}`, attempt },
      logDirectory: `${this.#logRoot}/default_${name}_uid-of-${name}`,
      labels: { ...labels, 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.uid': `uid-of-${name}` },
      annotations: { 'kubernetes.io/config.source': 'api' },
      linux,
    };
  }
}
