import { write } from '../cluster/local-storage/pods.ts';
import { podKinds, type PodKind } from './actions.ts';

/** What an observer may expect of the containers of a kind of pod. */
interface Program {
  /** `evicted`: they run until the pod is evicted for its local storage. */
  readonly ends: 'never' | 'by itself' | 'evicted';
  readonly restartPolicy: 'Always' | 'Never';
  readonly script: (seconds: number) => string;
}

/** Ends on SIGTERM, with its own exit code. */
const forever = 'trap "exit 0" TERM; while :; do sleep 1; done';

/** A shell command that logs 64 KiB a second for ever. */
const logForever = `line=$(printf '%01008d' 0); trap "exit 0" TERM; while :; do i=0; while [ $i -lt 64 ]; do echo $line; i=$((i+1)); done; sleep 1; done`;

const programs: Readonly<Record<PodKind, Program>> = {
  serves: { ends: 'never', restartPolicy: 'Always', script: () => forever },
  logs: { ends: 'never', restartPolicy: 'Always', script: () => logForever },
  crashes: { ends: 'by itself', restartPolicy: 'Always', script: (seconds) => `sleep ${seconds}; exit 3` },
  finishes: { ends: 'by itself', restartPolicy: 'Never', script: (seconds) => `sleep ${seconds}; exit 0` },
  fails: { ends: 'by itself', restartPolicy: 'Never', script: (seconds) => `sleep ${seconds}; exit 4` },
  waits: { ends: 'by itself', restartPolicy: 'Never', script: () => 'sleep 1; exit 0' },
  kept: { ends: 'by itself', restartPolicy: 'Never', script: (seconds) => `sleep ${seconds}; exit 0` },
  fills: { ends: 'evicted', restartPolicy: 'Always', script: () => `${write('/full/x', 8)}; ${forever}` },
  overwrites: { ends: 'evicted', restartPolicy: 'Always', script: () => `${write('/x', 8)}; ${forever}` },
};

/** The program of a pod of the load by its name; undefined for other pods. */
export function programOf(podName: string): Program | undefined {
  const kind = podKinds.find((one) => podName.startsWith(`${one}-`));
  return kind && programs[kind];
}

/** Whether a pod of this name has the keep label. */
export const isKept = (podName: string): boolean => podName.startsWith('kept-');

/** The manifest of a pod of the load. */
interface LoadPod {
  readonly name: string;
  readonly kind: PodKind;
  readonly image: string;
  /** Of the init container that the pod `waits` for. */
  readonly initImage: string;
  readonly seconds: number;
}

const limit = '4Mi';
/** Longer than an image may be unused. */
const initSeconds = 25;

export function loadPod({ name, kind, image, initImage, seconds }: LoadPod): object {
  const { restartPolicy, script } = programs[kind];
  const container = (id: string, from: string, text: string) => ({
    ...{ name: id, image: from, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', text] },
  });
  const main = {
    ...container('main', image, script(seconds)),
    ...(kind === 'fills' && { volumeMounts: [{ name: 'full', mountPath: '/full' }] }),
    ...(kind === 'overwrites' && {
      resources: { limits: { 'ephemeral-storage': limit }, requests: { 'ephemeral-storage': '0' } },
    }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace: 'default' },
      ...(kind === 'kept' && { labels: { 'gc.dustpan.dev/keep': 'true' } }),
    },
    spec: {
      // Without a network of its own a pod starts faster.
      ...{ hostNetwork: true, restartPolicy, terminationGracePeriodSeconds: 3 },
      ...(kind === 'fills' && { volumes: [{ name: 'full', emptyDir: { sizeLimit: limit } }] }),
      ...(kind === 'waits' && { initContainers: [container('init', initImage, `sleep ${initSeconds}`)] }),
      containers: [main],
    },
  };
}
