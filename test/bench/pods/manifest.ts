import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

/** Values in a template that each clone replaces with its own of the same length. */
export const placeholder = { number: '29999999', namespace: 'bench-00', node: 'node-000' } as const;

export const variants = ['succeeded', 'failed', 'running'] as const;
export type Variant = (typeof variants)[number];

interface PodManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

const template = readFileSync(new URL('pod.yaml', import.meta.url), 'utf8');

/** A pod as the Job controller creates it. */
export function podManifest(name: string, variant: Variant): PodManifest {
  const { metadata, ...rest } = load(template.replaceAll('VARIANT', variant)) as PodManifest;
  return { ...rest, metadata: { name, ...metadata } };
}

export const podName = (variant: Variant, number: number | string): string =>
  `nightly-${variant}-${number}-x7k2p`;

/** The variants of a list of which nine in ten have finished, a tenth of those failed. */
export const variantOf = (index: number): Variant =>
  index % 10 === 9 ? 'running' : index % 10 === 8 ? 'failed' : 'succeeded';

/** The status that the kubelet writes; no time in it is after the write, or the controller would not trust it and read the managedFields of every pod. */
export function podStatus(variant: Variant): object {
  const isRunning = variant === 'running';
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: { succeeded: 'Succeeded', failed: 'Failed', running: 'Running' }[variant],
    startTime: now(),
    hostIP: '10.10.0.17',
    podIP: '10.244.3.18',
    podIPs: [{ ip: '10.244.3.18' }],
    qosClass: 'Burstable',
    conditions: conditions.map((type) => ({
      type,
      status: isRunning || type === 'Initialized' || type === 'PodScheduled' ? 'True' : 'False',
      lastTransitionTime: now(),
      ...(!isRunning && { reason: 'PodCompleted' }),
    })),
    containerStatuses: [containerStatus(variant)],
  };
}

function containerStatus(variant: Variant): object {
  const containerID = `containerd://${'3f9a7c51'.repeat(7)}${placeholder.number}`;
  const image = 'registry.example.com/reporting/report';
  const isRunning = variant === 'running';
  const startedAt = now();
  const outcome =
    variant === 'failed' ? { exitCode: 1, reason: 'Error' } : { exitCode: 0, reason: 'Completed' };
  return {
    name: 'report',
    image: `${image}:v2.14.3`,
    imageID: `${image}@sha256:${'9c0f1e2d'.repeat(8)}`,
    containerID,
    ready: isRunning,
    started: isRunning,
    restartCount: 0,
    state: isRunning
      ? { running: { startedAt } }
      : { terminated: { containerID, ...outcome, startedAt, finishedAt: now() } },
  };
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
