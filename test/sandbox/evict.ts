import { checkNamespace } from './create.ts';
import { deleteOptions } from './delete-options.ts';
import { removeObject } from './delete.ts';
import { badRequest, Failure, notFound } from './failure.ts';
import { asList, asObject, asText, isObject, type JsonObject, type KubeObject } from './json.ts';
import type { RequestInfo } from './request-info.ts';
import { matchesLabelSelector } from './selectors.ts';
import { timestamp, type World } from './world.ts';

/** POST pods/eviction: a deletion that asks the pod's disruption budget first. */
export function evict(world: World, info: RequestInfo, body: JsonObject): JsonObject {
  checkBody(info, body);
  const { resource, namespace, name } = info;
  // To the server an eviction is an object that is made, so it may not be where the namespace goes.
  checkNamespace(world, info, name);
  const pod = world.store.get(resource, namespace, name);
  if (pod === undefined) throw notFound(resource, name);
  const given = body['deleteOptions'];
  const options = deleteOptions(isObject(given) ? given : {}, new URLSearchParams());
  if (!isExempt(pod) && !options.dryRun) takeFromBudget(world, pod);
  // Only here, as on the real server: a stale UID has used up the budget already.
  removeObject(world, { resource, object: pod }, options);
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

function checkBody({ name }: RequestInfo, body: JsonObject): void {
  const kind = asText(body['kind']);
  if (kind !== '' && kind !== 'Eviction') {
    throw badRequest(`${kind} in version "v1" cannot be handled as a Eviction: unknown conversion`);
  }
  if (asText(asObject(body['metadata'])['name']) !== name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
}

/** Pods that serve nobody need no budget. */
function isExempt(pod: KubeObject): boolean {
  const phase = asText(asObject(pod['status'])['phase']);
  return ['Pending', 'Succeeded', 'Failed'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function takeFromBudget(world: World, pod: KubeObject): void {
  const resource = world.registry.byKind('PodDisruptionBudget');
  const budgets = world.store
    .collection(resource)
    .sorted()
    .filter((budget) => covers(budget, pod));
  if (budgets.length > 1) {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new Failure(message, { code: 500 });
  }
  const [budget] = budgets;
  if (budget === undefined || isUnhealthyAnyway(budget, pod)) return;
  world.store.put(resource, { ...budget, status: reduced(budget, pod, world.now()) });
}

function covers(budget: KubeObject, pod: KubeObject): boolean {
  if (budget.metadata.namespace !== pod.metadata.namespace) return false;
  return matchesLabelSelector(asObject(budget['spec'])['selector'], pod.metadata.labels ?? {});
}

/** A pod that is not ready may go while enough others are. */
function isUnhealthyAnyway(budget: KubeObject, pod: KubeObject): boolean {
  const conditions = asList(asObject(pod['status'])['conditions']).map(asObject);
  const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  const { currentHealthy, desiredHealthy } = asObject(budget['status']);
  return !ready && Number(desiredHealthy ?? 0) > 0 && Number(currentHealthy ?? 0) >= Number(desiredHealthy);
}

function reduced(budget: KubeObject, pod: KubeObject, now: Date): JsonObject {
  const status = asObject(budget['status']);
  const allowed = Number(status['disruptionsAllowed'] ?? 0);
  if (Number(status['observedGeneration'] ?? 0) < (budget.metadata.generation ?? 0)) {
    throw refused(
      `The disruption budget ${budget.metadata.name} is still being processed by the server.`,
      10,
    );
  }
  if (allowed <= 0) throw refused(shortage(budget.metadata.name, status));
  const disruptedPods = { ...asObject(status['disruptedPods']), [pod.metadata.name]: timestamp(now) };
  return { ...status, disruptionsAllowed: allowed - 1, disruptedPods };
}

function shortage(name: string, { desiredHealthy, currentHealthy }: JsonObject): string {
  return `The disruption budget ${name} needs ${Number(desiredHealthy ?? 0)} healthy pods and has ${Number(currentHealthy ?? 0)} currently`;
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
