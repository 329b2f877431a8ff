import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Check } from '../../runtime/serving/health.ts';
import { isIndispensable, rightText, type Right } from '../../api/policy/needs.ts';
import { asObject, asText, parseJson } from '../codec/json.ts';
import type { KubeTransport } from '../http/transport.ts';

interface OwnRightsDeps {
  readonly transport: Pick<KubeTransport, 'send'>;
  /** That of this process; undefined = not known. */
  readonly namespace: string | undefined;
  readonly onChange?: (missing: readonly Right[]) => void;
  readonly log: Logger;
}

/** A verdict decides readiness, so it must not wait long. */
const reviewMs = 10_000;

/** Which rights the credentials of this process lack. A right that is not known counts as before. */
export class OwnRights implements Check {
  readonly name = 'rights';
  readonly #deps: OwnRightsDeps;
  #missing: readonly Right[] = [];
  /** The texts of the rights that a review has decided about. */
  readonly #known = new Set<string>();

  constructor(deps: OwnRightsDeps) {
    this.#deps = deps;
  }

  get missing(): readonly Right[] {
    return this.#missing;
  }

  /** Whether a review has decided about the right, now or earlier. */
  isKnown(right: Right): boolean {
    return this.#known.has(rightText(right));
  }

  check(): string | undefined {
    const needed = this.#missing.filter(isIndispensable);
    return needed.length === 0 ? undefined : `missing: ${needed.map(rightText).join(', ')}`;
  }

  /**
   * Reviews each right. Resolves with whether each was decided, and none is missing. Rejects if the API server does not respond; then all rights count
   * as before.
   */
  async review(rights: readonly Right[], signal: AbortSignal): Promise<boolean> {
    const { log, onChange } = this.#deps;
    const before = this.#missing.map(rightText);
    const missing: Right[] = [];
    let isSettled = true;
    for (const right of rights) {
      const decided = await this.#isAllowed(right, signal);
      if (decided !== undefined) this.#known.add(rightText(right));
      isSettled &&= decided === true;
      if (!(decided ?? !before.includes(rightText(right)))) missing.push(right);
    }
    this.#missing = missing;
    const texts = missing.map(rightText);
    if (texts.join() === before.join()) return isSettled;
    if (texts.length > 0) log.warn({ missing: texts }, 'rights are missing');
    else log.info({}, 'no right is missing any more');
    onChange?.(missing);
    return isSettled;
  }

  /** Without its namespace the API server would decide about all namespaces. */
  async #isAllowed(right: Right, signal: AbortSignal): Promise<boolean | undefined> {
    const { transport, namespace } = this.#deps;
    if (right.isLocal !== true) return await isAllowed(transport, right, signal);
    return namespace === undefined ? undefined : await isAllowed(transport, { ...right, namespace }, signal);
  }
}

/** Whether this process has a right; undefined = an authorizer failed. */
export async function isAllowed(
  transport: Pick<KubeTransport, 'send'>,
  { verb, group, resource, subresource, namespace, name }: Right,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource, subresource, namespace, name } },
  };
  const path = `/apis/${body.apiVersion}/selfsubjectaccessreviews`;
  const request = { method: 'POST', path, body, timeoutMs: reviewMs, retries: 0 } as const;
  const response = await transport.send(request, signal);
  const { status } = asObject<V1SelfSubjectAccessReview>(parseJson(response.body));
  const { allowed, evaluationError } = asObject(status);
  if (allowed === true) return true;
  return allowed === false && asText(evaluationError) === '' ? false : undefined;
}
