import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import {
  builtInVersion,
  ciValues,
  crdFiles,
  crdText,
  only,
  policiesChart,
  render,
  renderNotes,
  template,
  workload,
  type Manifest,
  type RenderOptions,
} from './chart.ts';

const everything = ['everything-values.yaml'];

const standardLabels = ['name', 'instance', 'component', 'part-of', 'version', 'managed-by'].map(
  (name) => `app.kubernetes.io/${name}`,
);

describe('objects', () => {
  test.each(ciValues)('with %s, each has the labels of its release', async (name) => {
    const manifests = await render({ values: [name] });
    const ours = manifests.filter(({ metadata }) => !/-(extra|text)$/.test(metadata.name));
    expect(ours.length).toBeGreaterThan(3);
    for (const { metadata } of ours) {
      expect(Object.keys(metadata.labels ?? {})).toEqual(
        expect.arrayContaining([...standardLabels, 'helm.sh/chart']),
      );
    }
  });

  test('each has the common labels and annotations', async () => {
    const manifests = await render({ values: everything });
    for (const { metadata } of manifests.filter(({ metadata }) => !/-(extra|text)$/.test(metadata.name))) {
      expect(metadata.labels).toMatchObject({ 'cost-centre': '42' });
      expect(metadata.annotations).toMatchObject({ 'example.com/owner': 'platform' });
    }
  });

  test.each<{ name: string; set: Record<string, unknown> }>([
    {
      name: 'labels',
      set: { commonLabels: { a: 'b' }, 'agent.podLabels': { c: 'd' }, 'controller.podLabels': { c: 'd' } },
    },
    { name: 'a label of the selector', set: { commonLabels: { 'app.kubernetes.io/component': 'x' } } },
    { name: 'a tag', set: { 'image.tag': '9.9.9' } },
    { name: 'other names', set: { fullnameOverride: 'other', namespaceOverride: 'elsewhere' } },
  ])('$name do not change the selectors, and these select their pods', async ({ set }) => {
    for (const [kind, component] of [
      ['Deployment', 'controller'],
      ['DaemonSet', 'agent'],
    ] as const) {
      const { selector, template: pods } = workload(await render({ set }), kind).spec;
      expect(selector.matchLabels).toEqual({
        'app.kubernetes.io/name': 'dustpan',
        'app.kubernetes.io/instance': 'dustpan',
        'app.kubernetes.io/component': component,
      });
      expect(pods.metadata.labels).toMatchObject(selector.matchLabels);
    }
  });

  test('a new version of the chart alone restarts no pod', async () => {
    const { template: pods } = workload(await render(), 'DaemonSet').spec;
    expect(Object.keys(pods.metadata.labels).join()).not.toMatch(/version|chart/);
  });

  test.each<{ name: string; options: RenderOptions }>([
    { name: 'without values', options: {} },
    { name: 'with everything on', options: { values: everything } },
  ])('are the same twice $name', async ({ options }) => {
    const [first, second] = [await template(options), await template(options)];
    expect(first.code).toBe(0);
    expect(second.stdout).toBe(first.stdout);
  });

  test('two releases share no object, two namespaces neither', async () => {
    const named = ({ kind, metadata }: Manifest): string =>
      [kind, metadata.namespace, metadata.name].join('/');
    const set = { 'crds.enabled': false };
    const names = [
      ...(await render({ set })),
      ...(await render({ set, release: 'second' })),
      ...(await render({ set, namespace: 'other' })),
    ].map(named);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each<{ name: string; options: RenderOptions; account: string }>([
    { name: 'without values', options: {}, account: 'dustpan-system:dustpan-agent' },
    { name: 'with everything on', options: { values: everything }, account: 'dustpan-system:node-agent' },
    {
      name: 'of another release',
      options: { release: 'second' },
      account: 'dustpan-system:second-dustpan-agent',
    },
    { name: 'elsewhere', options: { set: { namespaceOverride: 'gc' } }, account: 'gc:dustpan-agent' },
    {
      name: 'that exists',
      options: { set: { 'agent.serviceAccount': { create: false, name: 'mine' } } },
      account: 'dustpan-system:mine',
    },
  ])("the admission policies name the DaemonSet's account $name", async ({ options, account }) => {
    const manifests = await render(options);
    const { metadata, spec } = workload(manifests, 'DaemonSet');
    expect(`${metadata.namespace ?? ''}:${spec.template.spec.serviceAccountName}`).toBe(account);
    for (const ending of ['-own-node', '-own-events']) {
      expect(only(manifests, 'ValidatingAdmissionPolicy', ending).spec).toMatchObject({
        matchConditions: [{ expression: `request.userInfo.username == 'system:serviceaccount:${account}'` }],
      });
    }
  });

  test.each([
    { kubeVersion: '1.30.0' },
    { kubeVersion: '1.33.4-gke.1134000' },
    { kubeVersion: builtInVersion },
  ])('are rendered with admission policies on Kubernetes "$kubeVersion"', async ({ kubeVersion }) => {
    const manifests = await render({ kubeVersion });
    const named = (kind: string): readonly string[] =>
      manifests.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
    const names = ['dustpan-system-agent-own-node', 'dustpan-system-agent-own-events'];
    expect(named('ValidatingAdmissionPolicy')).toEqual(names);
    expect(named('ValidatingAdmissionPolicyBinding')).toEqual(names);
  });

  test.each<{ set: Record<string, unknown>; message: string | undefined }>([
    { set: {}, message: undefined },
    { set: { 'rbac.evictions': false }, message: undefined },
    { set: { 'controller.enabled': false, 'agent.enabled': false }, message: undefined },
    { set: { 'admissionPolicy.enabled': false }, message: 'admissionPolicy.enabled is false, so' },
    {
      set: { 'agent.enabled': false },
      message: 'agent.enabled is false: spec.nodes of a policy has no effect',
    },
  ])(
    'with $set, the notes say whether evictions are off because agents are not pinned',
    async ({ set, message }) => {
      const text = await renderNotes(set);
      expect(text).toContain('dustpan removes nothing now, unless');
      expect(text.includes('no right to evict pods')).toBe(message !== undefined);
      expect(text).toContain(message ?? '');
    },
  );

  test('Kubernetes 1.29 is refused', async () => {
    const { code, stderr } = await template({ kubeVersion: '1.29.9' });
    expect(code).toBe(1);
    expect(stderr).toContain('incompatible with Kubernetes');
  });
});

describe('CRDs', () => {
  test.each(crdFiles)('%s is unchanged in the chart', async (file) => {
    const wanted = load(crdText(file)) as Manifest;
    const rendered = only(await render(), 'CustomResourceDefinition', wanted.metadata.name);
    expect(rendered.spec).toEqual(wanted.spec);
    expect(rendered.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  });

  test.each([
    { value: 'keep', annotations: [undefined, undefined] },
    { value: 'enabled', annotations: [] },
  ])('are not kept, or left out, on request: $value', async ({ value, annotations }) => {
    const manifests = await render({ set: { [`crds.${value}`]: false } });
    const crds = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(crds.map(({ metadata }) => metadata.annotations)).toEqual(annotations);
  });
});

test('the chart of policies has the specs of its values', async () => {
  const chart = policiesChart;
  const policies = { trial: { mode: 'DryRun', pods: { terminated: { ttlAfterFinished: '24h' } } } };
  const manifests = await render({ chart, set: { policies, commonLabels: { team: 'a' } } });
  expect(manifests).toMatchObject([
    { kind: 'GCPolicy', metadata: { name: 'trial', labels: { team: 'a' } }, spec: policies.trial },
  ]);
  await expect(render({ chart, set: { policy: {} } })).rejects.toThrow(/additional properties|policy/);
});

describe('what values add to objects', () => {
  test('lines of /etc/hosts, fields of monitors', async () => {
    const manifests = await render({ values: everything });
    expect(workload(manifests, 'Deployment').spec.template.spec).toMatchObject({
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['api.example.com'] }],
    });
    const version = ['app.kubernetes.io/version'];
    expect(only(manifests, 'ServiceMonitor').spec).toMatchObject({
      targetLabels: version,
      sampleLimit: 5000,
    });
    expect(only(manifests, 'PodMonitor').spec).toMatchObject({ podTargetLabels: version, sampleLimit: 5000 });
  });

  test.each([
    { set: {}, expected: undefined },
    {
      set: { 'metrics.prometheusRule.runbookUrl': 'https://wiki.example.com/dustpan' },
      expected: 'https://wiki.example.com/dustpan#dustpancontrollerdown',
    },
  ])('$set: alerts lead to $expected', async ({ set, expected }) => {
    const rules = only(await render({ values: everything, set }), 'PrometheusRule');
    const { groups } = rules.spec as { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
    const down = groups
      .flatMap((group) => group.rules)
      .find(({ alert }) => alert === 'DustpanControllerDown');
    expect(down?.annotations['runbook_url']).toBe(expected);
  });
});

interface Alert {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}
