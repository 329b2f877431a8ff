import { expect, test } from 'vitest';
import { ran } from '../../../fakes/command-line.ts';

const node = ['--cri-socket=/s', '--node-name=n'];

const badUsage: readonly (readonly string[])[] = [
  ['nothing'],
  ['plna'],
  ['--kept', 'plan'],
  ['plan', '--kep'],
  ['plan', 'x'],
  ['why', 'pod'],
  ['agent'],
  ['agent', '--node-name=a/b'],
  ['agent', '--kubelet-endpoint=http://10.0.0.7:10250'],
  ['agent', '--kubelet-endpoint=https://10.0.0.7/stats'],
  ['agent', '--cri-socket=unix://run/crio/crio.sock'],
  ['agent', '--state-dir='],
  ['agent', '--kubelet-root-dir=x'],
  ['plan', '--kept=perhaps'],
  ['plan', '--as-group=g'],
  ['plan', '--as-uid=u'],
  ['plan', '--server=ftp://k.test'],
  ['plan', '--server=https://me@k.test'],
  ['controller', '--kube-api-burst'],
  ['controller', '--kube-api-burst', '-5'],
  ['controller', '-v=11'],
  ['controller', '--kube-api-qps=fast'],
  ['controller', '--pod-gc-period=5 min'],
  ['controller', '--pod-gc-period=-20s'],
  ['controller', '--log-format=xml'],
  ['controller', '--metrics-bind-address=8080'],
  ['completion'],
  ['completion', 'tcsh'],
  ['controller', '--leader-elect-lease-duration=10s'],
  ['controller', '--leader-elect-retry-period=8.4s'],
  ['controller', '--leader-elect-renew-deadline=20s', '--leader-elect-retry-period=20s'],
  ['controller', '--leader-elect-resource-namespace=Kube'],
  ['controller', '--leader-elect-resource-name='],
  ['controller', '--leader-elect-resource-name=a..b'],
  ['controller', '--metrics-secure'],
  ['controller', '--metrics-auth', '--metrics-cert-dir=/tls'],
  ['plan', '--node=a', '--nodes'],
  ['plan', '--node=a', '--snapshot=d'],
  ['plan', '--nodes', ...node],
  ['plan', '--snapshot=d', ...node],
  ['plan', '--snapshot='],
  ['plan', '--replace-policies'],
  ['plan', '--node=a,B'],
  ['plan', '--now=tomorrow'],
  ['plan', '--now=24h'],
  ['plan', '--now=+7d1d'],
  ['plan', '--now=+999999d'],
  ['plan', '-n=team', '-A'],
  ['plan', '-l=app in web'],
  ['report', '-o=pdf'],
  ['report', '--snapshot=d', '--node=a'],
  ['snapshot'],
  ['snapshot', 'a', 'b'],
  ['snapshot', '--force', 'a', '--cri-socket=/s'],
  ['snapshot', '-'],
  ['snapshot', 'a', '--only-node'],
  ['snapshot', 'a', '--cri-socket=s'],
  ['snapshot', 'a', '-n=team', ...node],
  ['snapshot', 'a', '-l=app', ...node],
  ['top', 'constructor'],
  ['top', 'pods', '--sort-by=gain'],
  ['top', 'pods', '-n', '--all'],
  ['top', 'nodes', '-n=a'],
  ['top', 'pods', '-A', '-n=a'],
  ['top', 'images', 'a'],
  ['status', '-o', 'go-template={{.verdict}}'],
  ['status', '-o', 'jsonpath={.verdict'],
  ['plan', '-o=custom-columns=NAME'],
  ['why', 'pvc', 'a'],
];

test('bad usage is exit code 2, no output, and the lines of the file', async () => {
  const texts: string[] = [];
  for (const argv of badUsage) {
    const { code, out, err } = await ran(argv);
    expect({ code, out }, argv.join(' ')).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^(dustpan: [^\n]+\n)+$/);
    texts.push(`# dustpan ${argv.join(' ')}\n\n${err}`);
  }
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/usage.txt');
});
