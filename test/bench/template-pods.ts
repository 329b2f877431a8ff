import type { ApiClient } from './api-client.ts';

/** The parts of a template that every clone has its own of; equally long in all of them. */
export const placeholder = { number: '29999999', namespace: 'bench-00', node: 'node-000' } as const;

/** What kind of pod a template is. */
export type Variant = 'succeeded' | 'failed' | 'running';

/** Creates one pod of each kind through the API, as Job controller, scheduler and kubelet would, so that what is stored is realistic. */
export async function createTemplates(api: ApiClient): Promise<ReadonlyMap<Variant, string>> {
  const variants: readonly Variant[] = ['succeeded', 'failed', 'running'];
  const names = new Map(
    variants.map((variant) => [variant, `nightly-${variant}-${placeholder.number}-x7k2p`]),
  );
  for (const [variant, name] of names) await createTemplate(api, variant, name);
  return names;
}

async function createTemplate(api: ApiClient, variant: Variant, name: string): Promise<void> {
  const pods = `/api/v1/namespaces/${placeholder.namespace}/pods`;
  await api.send('POST', `${pods}?fieldManager=kube-controller-manager`, {
    body: templatePod(name, variant),
  });
  const target = { apiVersion: 'v1', kind: 'Node', name: placeholder.node };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
  await api.send('POST', `${pods}/${name}/binding`, { body: binding });
  await api.send('PATCH', `${pods}/${name}/status?fieldManager=kubelet`, {
    body: { status: statusOf(variant) },
    contentType: 'application/strategic-merge-patch+json',
  });
}

const jobUid = `5b1c2f60-9d3e-4c1a-8f27-0000${placeholder.number}`;

/** A pod as the Job controller makes it. */
export function templatePod(name: string, variant: Variant): object {
  const job = `nightly-${variant}-${placeholder.number}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${job}-`,
      labels: {
        'app.kubernetes.io/name': 'nightly-report',
        'app.kubernetes.io/part-of': 'reporting',
        'batch.kubernetes.io/controller-uid': jobUid,
        'batch.kubernetes.io/job-name': job,
        'controller-uid': jobUid,
        'job-name': job,
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9090',
        'checksum/config': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      },
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          name: job,
          uid: jobUid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: podSpec(),
  };
}

function podSpec(): object {
  const env = ['DATABASE_HOST', 'REPORT_BUCKET', 'TZ'].map((name) => ({
    name,
    value: `value-of-${name.toLowerCase()}.internal.example.com`,
  }));
  const resources = {
    requests: { cpu: '250m', memory: '256Mi' },
    limits: { cpu: '1', memory: '512Mi' },
  };
  return {
    restartPolicy: 'Never',
    serviceAccountName: 'nightly-report',
    securityContext: { runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 },
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    volumes: [
      { name: 'config', configMap: { name: 'nightly-report-config' } },
      { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'kube-api-access-9x2lm', projected: { sources: projectedSources() } },
    ],
    containers: ['report'].map((name) => ({
      name,
      image: `registry.example.com/reporting/${name}:v2.14.3`,
      command: ['/bin/report', '--format=parquet', `--stage=${name}`],
      env,
      resources,
      ports: [{ name: 'metrics', containerPort: 9090 }],
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      volumeMounts: [
        { name: 'config', mountPath: '/etc/report', readOnly: true },
        { name: 'scratch', mountPath: '/var/tmp/report' },
        {
          name: 'kube-api-access-9x2lm',
          mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
          readOnly: true,
        },
      ],
    })),
  };
}

function projectedSources(): object[] {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } };
  return [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [namespace] } },
  ];
}

/** Its status, as the kubelet leaves it. */
export function statusOf(variant: Variant): object {
  const time = (seconds: number): string =>
    new Date(Date.now() + seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const running = variant === 'running';
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: { succeeded: 'Succeeded', failed: 'Failed', running: 'Running' }[variant],
    startTime: time(2),
    hostIP: '10.10.0.17',
    podIP: '10.244.3.18',
    podIPs: [{ ip: '10.244.3.18' }],
    qosClass: 'Burstable',
    conditions: conditions.map((type) => ({
      type,
      status: running || type === 'Initialized' || type === 'PodScheduled' ? 'True' : 'False',
      lastTransitionTime: time(90),
      ...(running ? {} : { reason: 'PodCompleted' }),
    })),
    containerStatuses: ['report'].map((name) => containerStatus(name, variant, time)),
  };
}

function containerStatus(name: string, variant: Variant, time: (seconds: number) => string): object {
  const containerID = `containerd://${'3f9a7c51'.repeat(7)}${placeholder.number}`;
  const image = `registry.example.com/reporting/${name}`;
  const exitCode = variant === 'failed' ? 1 : 0;
  const reason = variant === 'failed' ? 'Error' : 'Completed';
  const terminated = { containerID, exitCode, reason, startedAt: time(5), finishedAt: time(88) };
  return {
    name,
    image: `${image}:v2.14.3`,
    imageID: `${image}@sha256:${'9c0f1e2d'.repeat(8)}`,
    containerID,
    ready: variant === 'running',
    started: variant === 'running',
    restartCount: 0,
    state: variant === 'running' ? { running: { startedAt: time(5) } } : { terminated },
  };
}
