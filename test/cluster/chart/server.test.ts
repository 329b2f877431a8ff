import { beforeAll, describe, expect, test } from 'vitest';
import {
  chartDirectory,
  manifestsOf,
  platforms,
  policiesChart,
  template,
  type RenderOptions,
} from './chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { policyManifest } from '../../manifests.ts';
import { create, helm, kubectl } from '../servers/kubectl.ts';
import { ourKindsListed } from '../servers/resources.ts';
import { waitUntil } from '../servers/waiting.ts';

const apply = ['apply', '--dry-run=server', '--validate=strict', '-f', '-'];
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ parts: ['etcd', 'api'] });
});

describe('the API server with strict validation', () => {
  beforeAll(async () => {
    await create(cluster, secured('rendered', 'privileged'), secured('restricted', 'restricted'));
    const kinds = [
      ...['ServiceMonitor', 'PodMonitor', 'PrometheusRule'].map((kind) =>
        foreignKind('monitoring.coreos.com', kind),
      ),
      foreignKind('cert-manager.io', 'Certificate'),
    ];
    await create(cluster, ...kinds);
    await kubectl(cluster, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    // It may serve them a moment before it lists them.
    for (const name of ['podmonitors.monitoring', 'prometheusrules.monitoring', 'certificates.cert-manager'])
      await waitUntil(`${name} is listed`, async () =>
        (await kubectl(cluster, ['api-resources', '-o', 'name'])).includes(name),
      );
  });

  const everything = ['everything-values.yaml'];

  test.each<{ name: string; options: RenderOptions }>([
    { name: 'without values', options: {} },
    { name: 'with few of its parts', options: { values: ['minimal-values.yaml'] } },
    { name: 'with everything on', options: { values: everything } },
    { name: 'with secure metrics', options: { values: ['secure-values.yaml'] } },
    {
      name: 'with everything on, and a budget as a percentage',
      options: {
        values: everything,
        set: { 'controller.podDisruptionBudget': { maxUnavailable: '50%' } },
      },
    },
    ...platforms.map((platform) => ({ name: `on ${platform}`, options: { set: { platform } } })),
    // Pod Security warns about pods that it would reject.
    ...platforms.map((platform) => ({
      name: `on ${platform} without agents, where Pod Security is restricted`,
      options: { set: { platform, 'agent.enabled': false }, namespace: 'restricted' },
    })),
  ])('accepts the chart $name', async ({ options }) => {
    const rendered = await template({ namespace: 'rendered', ...options });
    expect(rendered.code).toBe(0);
    const { code, stdout, stderr } = await cluster.run('kubectl', apply, rendered.stdout);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(manifestsOf(rendered.stdout).length);
  });
});

/** A namespace of this Pod Security standard. */
function secured(name: string, standard: string): object {
  const labels = Object.fromEntries(
    ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, standard]),
  );
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** A kind of others that the chart can render, with any fields: those that the chart writes are in the tests of the rendered objects. */
function foreignKind(group: string, kind: string): object {
  const singular = kind.toLowerCase();
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural: `${singular}s`, singular },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const namespace = 'dustpan-system';
const report = {
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'NodeGCReport',
  metadata: { name: 'node-b' },
};

const policy = policyManifest('default', { pods: { terminated: {} } });

describe('a release without values', () => {
  const release = ['dustpan', chartDirectory, '--namespace', namespace];
  let notes: string;

  beforeAll(async () => {
    notes = await helm(cluster, 'install', ...release, '--create-namespace');
    await ourKindsListed(cluster);
  });

  test('explains that nothing happens without a policy, and what to do next', () => {
    expect(notes).toContain('dustpan removes nothing now, unless');
    expect(notes).toContain('kubectl -n dustpan-system rollout status daemonset/dustpan-agent');
    expect(notes).toContain('mode: DryRun');
    expect(notes).toContain('pod-security.kubernetes.io/enforce=privileged');
    expect(notes).not.toMatch(/<no value>|%!/);
  });

  test('has a valid policy in its notes', async () => {
    const text =
      /^kubectl apply -f - <<'POLICY'\n(?<policy>[\s\S]*?)\nPOLICY\n/m.exec(notes)?.groups?.['policy'] ?? '';
    expect(text).toMatch(/^apiVersion: /);
    await kubectl(cluster, apply, text);
  });

  test('lets the chart of policies be installed right after it', async () => {
    const set = '--set-json=policies={"of-release":{"mode":"DryRun","pods":{"terminated":{}}}}';
    await helm(cluster, 'install', 'policies', policiesChart, '--namespace', namespace, set);
    expect(await kubectl(cluster, ['get', 'gcpolicies', '-o=name'])).toContain('/of-release');
    await helm(cluster, 'uninstall', 'policies', '--namespace', namespace);
  });

  test('gives the agents a priority level of their own', async () => {
    const path = ['flowschema', 'dustpan-system-agent', '-o=jsonpath={.metadata.uid}'];
    const uid = await kubectl(cluster, ['get', ...path]);
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    /** Of a request by this service account, as the API server classified it. */
    const schemaOf = async (account: string): Promise<string | undefined> => {
      const user = `--as=system:serviceaccount:${namespace}:${account}`;
      const { stderr } = await cluster.run('kubectl', ['get', 'gcpolicies', user, '--v=9']);
      return /X-Kubernetes-Pf-Flowschema-Uid: (\S+)/i.exec(stderr)?.[1];
    };
    // The API server reads new schemas a moment later.
    await waitUntil('the agents have it', async () => (await schemaOf('dustpan-agent')) === uid);
    expect(await schemaOf('dustpan-controller')).not.toBe(uid);
  });

  test('lets viewers read policies and editors write them', async () => {
    const as = async (role: string, verb: string): Promise<string> => {
      const user = `some-${role}`;
      const binding = [user, `--clusterrole=dustpan-system-${role}`, `--user=${user}`];
      await cluster.run('kubectl', ['create', 'clusterrolebinding', ...binding]);
      const question = ['auth', 'can-i', verb, 'gcpolicies.gc.dustpan.dev', `--as=${user}`];
      return (await cluster.run('kubectl', question)).stdout.trim();
    };
    // A new binding takes effect after a moment.
    await expect
      .poll(async () => [await as('view', 'list'), await as('view', 'create')])
      .toEqual(['yes', 'no']);
    await expect
      .poll(async () => [await as('edit', 'create'), await as('edit', 'delete')])
      .toEqual(['yes', 'yes']);
  });

  test('keeps policies and reports over an upgrade, and uses kinds that the cluster has got since', async () => {
    await create(cluster, policy, report);
    await helm(
      cluster,
      'upgrade',
      ...release,
      '--set=metrics.serviceMonitor.enabled=true,controller.replicas=2,log.verbosity=4',
    );
    await kubectl(cluster, ['get', 'gcpolicy/default', 'nodegcreport/node-b']);
    await kubectl(cluster, ['get', 'servicemonitor/dustpan-controller', '--namespace', namespace]);
  });

  test('keeps a certificate that helm made over upgrades', async () => {
    const secret = ['get', 'secret', 'dustpan-metrics-tls', '--namespace', namespace, '-o=jsonpath={.data}'];
    const upgrade = async (verbosity: number): Promise<string> => {
      await helm(
        cluster,
        'upgrade',
        ...release,
        `--set=metrics.secure.enabled=true,log.verbosity=${verbosity}`,
      );
      return await kubectl(cluster, secret);
    };
    const first = await upgrade(2);
    expect(Object.keys(JSON.parse(first) as object).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    expect(await upgrade(3)).toBe(first);
  });

  test('can be installed again over the policies and the reports that an uninstall leaves', async () => {
    await helm(cluster, 'uninstall', 'dustpan', '--namespace', namespace);
    await helm(cluster, 'install', ...release);
    await kubectl(cluster, ['get', 'gcpolicy/default', 'nodegcreport/node-b']);
  });
});
