// Run by `helm test` in a pod: both kinds are served, and the pods of the release are ready.
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, NAMESPACE, SELECTOR, WANTED } = process.env;
const urlHost = (address) => (isIPv6(address) ? `[${address}]` : address);
const token = await readFile('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8');
// A cluster of thousands of nodes need not be asked whole.
const mostPods = 50;

async function list(path) {
  const response = await fetch(`https://${urlHost(host)}:${port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()).items;
}

async function notReady({ metadata, status = {} }, healthPort) {
  if (!status.podIP) return `${metadata.name} has no address`;
  const url = `http://${urlHost(status.podIP)}:${healthPort}/readyz?verbose`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? undefined : `${metadata.name}: ${await response.text()}`;
  } catch (err) {
    return `${metadata.name}: ${url}: ${err.cause?.message ?? err.message}`;
  }
}

async function check(component, healthPort) {
  const selector = encodeURIComponent(`${SELECTOR},app.kubernetes.io/component=${component}`);
  const pods = await list(`/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${selector}&limit=${mostPods}`);
  const present = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (present.length === 0) return [`no pod of the ${component}`];
  const found = await Promise.all(present.map((pod) => notReady(pod, healthPort)));
  const problems = found.filter((problem) => problem !== undefined);
  if (problems.length === 0) console.log(`${component}: ${present.length} ready`);
  return problems;
}

for (const kind of ['gcpolicies', 'nodegcreports']) {
  console.log(`${kind}: ${(await list(`/apis/gc.dustpan.dev/v1alpha1/${kind}?limit=500`)).length}`);
}
const wanted = Object.entries(JSON.parse(WANTED)).filter(([, { port }]) => port !== undefined);
for (let tries = 1; ; tries++) {
  const problems = (await Promise.all(wanted.map(([component, { port }]) => check(component, port)))).flat();
  if (problems.length === 0) break;
  if (tries === 30) throw new Error(problems.join('\n'));
  await sleep(2_000);
}
