import { describe, expect, test } from 'vitest';
import { chartDirectory, ciFile, ciValues, helm, platforms, render, template, workload } from './chart.ts';

describe('values', () => {
  test.each(ciValues)('helm lint --strict accepts %s', async (name) => {
    const { code, stdout } = await helm(['lint', '--strict', chartDirectory, '--values', ciFile(name)]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(', 0 chart(s) failed') as string,
    });
  });

  test.each(platforms)('helm lint --strict accepts the platform %s', async (platform) => {
    const { code } = await helm(['lint', '--strict', chartDirectory, '--set', `platform=${platform}`]);
    expect(code).toBe(0);
  });

  test('helm lint rejects a value that the schema does not name', async () => {
    const { code, stdout, stderr } = await helm(['lint', chartDirectory, '--set', 'controler.replicas=2']);
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/additional properties 'controler' not allowed/);
  });

  // One row for each rule that the generated schema uses; then the checks of the chart's own.
  test.each<{ name: string; set: Record<string, unknown>; message: RegExp }>([
    { name: 'a misspelt leaf', set: { 'controller.replica': 2 }, message: /'replica' not allowed/ },
    {
      name: 'a field of the pods that has a value of its own',
      set: { 'agent.podSpec': { tolerations: [] } },
      message: /agent\/podSpec\/tolerations': value must be 'absent here: [^']+ from the value tolerations'/,
    },
    {
      name: 'a field of a monitor that the chart sets',
      set: { 'metrics.serviceMonitor.endpoint': { path: '/' } },
      message: /endpoint\/path': value must be 'absent here: the chart sets this field'/,
    },
    { name: 'a switch as a text', set: { 'crds.keep': 'yes' }, message: /got string, want boolean/ },
    {
      name: 'an unknown runtime',
      set: { 'agent.runtime': 'rkt' },
      message: /must be one of '', 'containerd'/,
    },
    { name: 'a negative number', set: { 'controller.replicas': -1 }, message: /minimum/ },
    {
      name: 'a digest that is none',
      set: { 'image.digest': 'sha256:abc' },
      message: /does not match pattern/,
    },
    {
      name: 'a tag and a digest',
      set: { 'image.tag': '2', 'image.digest': `sha256:${'a'.repeat(64)}` },
      message: /image\.tag and image\.digest: only one/,
    },
    { name: 'an empty repository', set: { 'image.repository': '' }, message: /minLength/ },
    { name: 'a port beyond 65535', set: { 'metrics.port': 65536 }, message: /maximum/ },
    {
      name: 'a kubelet without TLS',
      set: { 'agent.kubelet.endpoint': 'http://127.0.0.1:10255' },
      message: /does not match pattern/,
    },
    {
      name: 'several replicas without a leader',
      set: { 'controller.replicas': 2, 'controller.leaderElection.enabled': false },
      message: /several controllers would work at once/,
    },
    {
      name: 'a monitor without a Service',
      set: {
        'metrics.serviceMonitor': { enabled: true, renderMode: 'alwaysRender' },
        'metrics.service.enabled': false,
      },
      message: /needs metrics\.service\.enabled/,
    },
    {
      name: 'a pod monitor that may not read',
      set: {
        'metrics.podMonitor': { enabled: true, renderMode: 'alwaysRender' },
        'metrics.secure.enabled': true,
      },
      message: /metrics\.serviceMonitor\.agents/,
    },
    {
      name: 'agents that would be counted twice',
      set: {
        'metrics.podMonitor.enabled': true,
        'metrics.serviceMonitor': { enabled: true, agents: true },
      },
      message: /scraped, and counted, twice/,
    },
    {
      name: 'a Secret without a name',
      set: { 'metrics.secure.enabled': true, 'metrics.secure.tls.type': 'existingSecret' },
      message: /existingSecret\.name is needed/,
    },
    {
      name: 'a certificate that nobody issues',
      set: { 'metrics.secure.enabled': true, 'metrics.secure.tls.type': 'certManager' },
      message: /certManager\.issuerRef is needed/,
    },
  ])('refused: $name', async ({ set, message }) => {
    const { code, stderr } = await template({ set });
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });

  test('values of a parent chart are accepted', async () => {
    const { code } = await template({ set: { enabled: true, 'global.somebodyElses': 1 } });
    expect(code).toBe(0);
  });

  test('a null value removes a default', async () => {
    const manifests = await render({
      set: { 'controller.livenessProbe': null, 'controller.resources.limits': null },
    });
    const [container] = workload(manifests, 'Deployment').spec.template.spec.containers;
    expect(container).not.toHaveProperty('livenessProbe');
    expect(container).toHaveProperty('resources', { requests: { cpu: '10m', memory: '128Mi' } });
  });
});
