import { removeObject } from './delete.ts';
import { Failure, notFound } from './failure.ts';
import { asObject, asText, type JsonObject, type KubeObject } from './format/json.ts';
import type { Call } from './request.ts';
import { timestamp } from './store.ts';
import { checkNamespace } from './write.ts';

/** POST pods/eviction: a deletion that a disruption budget may block. */
export function evict(call: Call): JsonObject {
  const { store, resource, namespace, name, body } = call;
  // The real server treats an eviction as a new object, which a terminating namespace rejects.
  checkNamespace(call, name);
  const pod = store.get(resource, namespace, name);
  if (pod === undefined) throw notFound(resource, name);
  if (!isExempt(pod)) takeFromBudget(call, pod);
  // The real server checks preconditions only now, after it has charged the budget.
  removeObject(call, pod, asObject(body['deleteOptions']));
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

/** Pods that are not running need no budget. */
function isExempt(pod: KubeObject): boolean {
  const phase = asText(asObject(pod['status'])['phase']);
  return ['Pending', 'Succeeded', 'Failed'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function takeFromBudget({ store, registry }: Call, pod: KubeObject): void {
  const resource = registry.byKind('PodDisruptionBudget');
  const budgets = store.collection(resource).sorted();
  const [budget, another] = budgets.filter((one) => covers(one, pod));
  if (another !== undefined) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new Failure(message, { code: 500 });
  }
  if (budget === undefined) return;
  store.put(resource, { ...budget, status: reduced(budget, pod) });
}

function covers({ metadata, spec }: KubeObject, pod: KubeObject): boolean {
  if (metadata.namespace !== pod.metadata.namespace) return false;
  const labels = Object.entries(asObject(asObject(asObject(spec)['selector'])['matchLabels']));
  return labels.every(([name, value]) => pod.metadata.labels?.[name] === value);
}

function reduced({ metadata, ...budget }: KubeObject, pod: KubeObject): JsonObject {
  const status = asObject(budget['status']);
  const { disruptionsAllowed = 0, observedGeneration = 0, desiredHealthy = 0, currentHealthy = 0 } = status;
  if (Number(observedGeneration) < (metadata.generation ?? 0))
    throw refused(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);
  if (Number(disruptionsAllowed) <= 0) {
    throw refused(
      `The disruption budget ${metadata.name} needs ${Number(desiredHealthy)} healthy pods and has ${Number(currentHealthy)} currently`,
    );
  }
  const disruptedPods = { ...asObject(status['disruptedPods']), [pod.metadata.name]: timestamp() };
  return { ...status, disruptionsAllowed: Number(disruptionsAllowed) - 1, disruptedPods };
}

function refused(message: string, retryAfterSeconds?: number): Failure {
  const causes = [{ reason: 'DisruptionBudget', message }];
  const details = { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  return new Failure("Cannot evict pod as it would violate the pod's disruption budget.", {
    code: 429,
    reason: 'TooManyRequests',
    details,
  });
}
