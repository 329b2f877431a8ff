import { describe, expect, test } from 'vitest';
import { chartDirectory, ciFile, ciValues, helm, render, template, workload } from './chart.ts';

describe('values', () => {
  test.each(ciValues)('helm lint --strict accepts %s', async (name) => {
    const { code, stdout } = await helm(['lint', '--strict', chartDirectory, '--values', ciFile(name)]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(', 0 chart(s) failed') as string,
    });
  });

  test('helm lint rejects a value that the schema does not name', async () => {
    const { code, stdout, stderr } = await helm(['lint', chartDirectory, '--set', 'controler.replicas=2']);
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/additional properties 'controler' not allowed/);
  });

  test.each<{ name: string; set: Record<string, unknown>; message: RegExp }>([
    { name: 'a misspelt map', set: { agnet: {} }, message: /'agnet' not allowed/ },
    { name: 'a misspelt leaf', set: { 'controller.replica': 2 }, message: /'replica' not allowed/ },
    { name: 'a leaf in the wrong map', set: { 'agent.replicas': 2 }, message: /'replicas' not allowed/ },
    {
      name: 'a user namespace for the agent',
      set: { 'agent.hostUsers': false },
      message: /'hostUsers' not allowed/,
    },
    { name: 'a number as a text', set: { 'controller.replicas': '2' }, message: /got string, want integer/ },
    { name: 'a negative number', set: { 'controller.replicas': -1 }, message: /minimum/ },
    { name: 'a switch as a text', set: { 'crds.keep': 'yes' }, message: /got string, want boolean/ },
    {
      name: 'an unknown pull policy',
      set: { 'image.pullPolicy': 'always' },
      message: /must be one of 'Always'/,
    },
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
    {
      name: 'a duration without a unit',
      set: { 'controller.podGCPeriod': '20' },
      message: /does not match pattern/,
    },
    { name: 'a verbosity beyond 10', set: { 'log.verbosity': 11 }, message: /maximum/ },
    { name: 'an unknown log format', set: { 'log.format': 'xml' }, message: /must be one of 'json', 'text'/ },
    { name: 'a port beyond 65535', set: { 'metrics.port': 65536 }, message: /maximum/ },
    {
      name: 'an unknown render mode',
      set: { 'metrics.podMonitor.renderMode': 'maybe' },
      message: /must be one of/,
    },
    {
      name: 'a relative host path',
      set: { 'agent.hostPaths.kubelet': 'var/lib/kubelet' },
      message: /does not match pattern/,
    },
    {
      name: 'a relative socket',
      set: { 'agent.criSocket': 'containerd.sock' },
      message: /does not match pattern/,
    },
    { name: 'an unknown runtime', set: { 'agent.runtime': 'rkt' }, message: /must be one of 'containerd'/ },
    {
      name: 'a kubelet without TLS',
      set: { 'agent.kubelet.endpoint': 'http://127.0.0.1:10255' },
      message: /does not match pattern/,
    },
    { name: 'flags in one text', set: { 'agent.extraArgs': '--v=4 --x' }, message: /got string, want array/ },
    { name: 'a label that is a number', set: { 'commonLabels.a': 1 }, message: /got number, want string/ },
    {
      name: 'an unknown part of resources',
      set: { 'agent.resources.limit': {} },
      message: /'limit' not allowed/,
    },
    {
      name: 'a budget of half a pod',
      set: { 'controller.podDisruptionBudget.minAvailable': 'half' },
      message: /does not match pattern/,
    },
    {
      name: 'a failure policy of its own',
      set: { 'admissionPolicy.failurePolicy': 'Warn' },
      message: /must be one of/,
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
