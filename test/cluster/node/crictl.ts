import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../servers/cluster.ts';

type Runner = Pick<Cluster, 'run' | 'dir'>;

/** Runs crictl and returns its output; throws its message when it fails. */
export async function crictl(cluster: Runner, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('crictl', args);
  if (code !== 0) throw new Error(`crictl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.trim();
}

/** The response of a crictl command. */
export async function criResponse<T>(
  cluster: Runner,
  command: string,
  ...args: readonly string[]
): Promise<T> {
  return JSON.parse(await crictl(cluster, command, '-o', 'json', ...args)) as T;
}

/** The ID and the size of an image. */
export async function inspectedImage(
  cluster: Runner,
  ref: string,
): Promise<{ readonly id: string; readonly size: string }> {
  interface Inspected {
    readonly status: { readonly id: string; readonly size: string };
  }
  return (await criResponse<Inspected>(cluster, 'inspecti', ref)).status;
}

/** Stops a sandbox while the kubelet is paused: a running one could see the containers end first, and restart them in the same sandbox. */
export async function crashSandbox(cluster: Runner & Pick<Cluster, 'kill'>, id: string): Promise<void> {
  await cluster.kill('kubelet', 'SIGSTOP');
  try {
    await crictl(cluster, 'stopp', id);
  } finally {
    await cluster.kill('kubelet', 'SIGCONT');
  }
}

interface SandboxOptions {
  readonly name: string;
  /** Defaults: `default` and `uid-NAME`. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A sandbox that a container can be made in. */
export interface Sandbox {
  readonly id: string;
  readonly configFile: string;
}

/** Starts a pod sandbox on the host's network, with the kubelet's log directory for it. */
export async function runSandbox(cluster: Runner, options: SandboxOptions): Promise<Sandbox> {
  const { name, namespace = 'default', uid = `uid-${name}`, attempt = 0 } = options;
  const { labels = {}, annotations = {} } = options;
  const configFile = write(cluster, `sandbox-${uid}-${attempt}`, {
    metadata: { name, namespace, uid, attempt },
    log_directory: `/var/log/pods/${namespace}_${name}_${uid}`,
    labels: {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': namespace,
      'io.kubernetes.pod.uid': uid,
      ...labels,
    },
    annotations,
    linux: { security_context: { namespace_options: { network: hostNetwork } } },
  });
  return { id: await crictl(cluster, 'runp', configFile), configFile };
}

/** NODE of CRI's NamespaceMode. */
const hostNetwork = 2;

interface ContainerOptions {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly attempt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** CRI Mounts in JSON. */
  readonly mounts?: readonly object[];
}

/** Starts a container in a sandbox and returns its id; its log is NAME/ATTEMPT.log below the sandbox's. */
export async function runContainer(
  cluster: Runner,
  sandbox: Sandbox,
  { name, image, command, attempt = 0, labels = {}, mounts = [] }: ContainerOptions,
): Promise<string> {
  const configFile = write(cluster, `container-${sandbox.id}-${name}-${attempt}`, {
    metadata: { name, attempt },
    image: { image },
    command,
    log_path: `${name}/${attempt}.log`,
    labels: { 'io.kubernetes.container.name': name, ...labels },
    mounts,
    linux: {},
  });
  const id = await crictl(cluster, 'create', '--no-pull', sandbox.id, configFile, sandbox.configFile);
  await crictl(cluster, 'start', id);
  return id;
}

function write(cluster: Runner, name: string, config: object): string {
  const file = join(cluster.dir, `${name}.json`);
  writeFileSync(file, JSON.stringify(config));
  return file;
}
