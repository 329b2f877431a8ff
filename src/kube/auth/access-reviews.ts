import type {
  V1SubjectAccessReview,
  V1SubjectAccessReviewSpec,
  V1SubjectAccessReviewStatus,
  V1TokenReview,
  V1TokenReviewStatus,
  V1UserInfo,
} from '@kubernetes/client-node';
import { createHash } from 'node:crypto';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { pauseAfter } from '../../runtime/scheduling/backoff.ts';
import { asObject, asText, parseJson, type Unchecked } from '../codec/json.ts';
import type { OnWire } from '../codec/wire.ts';
import { isTransient } from '../http/retry.ts';
import type { KubeTransport } from '../http/transport.ts';

interface AccessReviewsDeps {
  readonly transport: Pick<KubeTransport, 'send'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly random: () => number;
}

/** `unauthenticated`: an unknown user (401); `forbidden`: a known user without the right (403). */
type Access = 'allowed' | 'unauthenticated' | 'forbidden';

type User = Pick<OnWire<V1SubjectAccessReviewSpec>, 'user' | 'uid' | 'groups' | 'extra'>;

type Review = OnWire<V1TokenReview | V1SubjectAccessReview> & {
  readonly apiVersion: string;
  readonly kind: string;
};

const minute = 60_000;
// Values of controller-runtime's WithAuthenticationAndAuthorization.
const tokenTtlMs = minute;
const allowedTtlMs = 5 * minute;
const deniedTtlMs = minute / 2;
const tries = 5;
const pauses = { firstMs: 500, growth: 1.5 };
const pauseJitter = 0.2;

/** Limit of all attempts of one review, so that a scraper does not wait longer. */
const reviewMs = 10_000;
/** Scrapers are few. A client that sends a new token with each request must fill neither our memory nor the API server's queue. */
const rememberedResults = 256;
const reviewsAtOnce = 16;

/** Decides who may `get` a path that the API server does not serve: TokenReview returns the user of the token, SubjectAccessReview their right. */
export class AccessReviews {
  readonly #deps: AccessReviewsDeps;
  readonly #users: Expiring<User | 'nobody'>;
  readonly #rights: Expiring<Access>;
  #inProgress = 0;

  constructor(deps: AccessReviewsDeps) {
    this.#deps = deps;
    this.#users = new Expiring(deps.clock);
    this.#rights = new Expiring(deps.clock);
  }

  /** `authorization` is the value of the header. Rejects if the API server does not decide. */
  async check(authorization: string | undefined, path: string, signal: AbortSignal): Promise<Access> {
    const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'unauthenticated';
    const user = await this.#userOf(token, signal);
    return user === 'nobody' ? 'unauthenticated' : this.#accessOf(user, path, signal);
  }

  /**
   * A rejected token with an error is not remembered, as in upstream's cache: an authenticator that failed may succeed next time. kube-apiserver
   * sets an error for every unknown token.
   */
  async #userOf(token: string, signal: AbortSignal): Promise<User | 'nobody'> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#users.get(key);
    if (known !== undefined) return known;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const status: Unchecked<V1TokenReviewStatus> = await this.#review(review, signal);
    const user = userIn(status);
    if (user !== 'nobody' || asText(status.error) === '') this.#users.remember(key, user, tokenTtlMs);
    return user;
  }

  async #accessOf(user: User, path: string, signal: AbortSignal): Promise<Access> {
    const spec = { ...user, nonResourceAttributes: { path, verb: 'get' } };
    const key = JSON.stringify(spec);
    const known = this.#rights.get(key);
    if (known !== undefined) return known;
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { allowed, denied }: Unchecked<V1SubjectAccessReviewStatus> = await this.#review(review, signal);
    const isAllowed = allowed === true && denied !== true;
    const access = isAllowed ? 'allowed' : 'forbidden';
    this.#rights.remember(key, access, isAllowed ? allowedTtlMs : deniedTtlMs);
    return access;
  }

  async #review(review: Review, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    if (this.#inProgress >= reviewsAtOnce) throw new Error('too many reviews of access at once');
    this.#inProgress += 1;
    try {
      return await this.#send(review, signal);
    } catch (err) {
      throw new Error(`making a ${review.kind}`, { cause: err });
    } finally {
      this.#inProgress -= 1;
    }
  }

  /** Repeats the request after a transient failure: a review stores nothing. */
  async #send(body: Review, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { transport, clock, random } = this.#deps;
    const path = `/apis/${body.apiVersion}/${body.kind.toLowerCase()}s`;
    const deadlineMs = clock.monotonicMs() + reviewMs;
    for (let attempt = 1; ; attempt += 1) {
      const timeoutMs = Math.max(1, deadlineMs - clock.monotonicMs());
      try {
        const response = await transport.send({ method: 'POST', path, body, timeoutMs, retries: 0 }, signal);
        const { status } = asObject<Review>(parseJson(response.body));
        return asObject(status);
      } catch (err) {
        const pauseMs = pauseAfter(attempt - 1, pauses) * (1 + pauseJitter * random());
        const isOver = attempt >= tries || clock.monotonicMs() + pauseMs >= deadlineMs;
        if (isOver || !isTransient(err)) throw err;
        await clock.sleep(pauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }
}

/** A status of another form authenticates nobody. */
function userIn({ authenticated, user }: Unchecked<V1TokenReviewStatus>): User | 'nobody' {
  // Groups and extra are returned to the API server as it has sent them.
  const { username, ...rest } = asObject(user) as OnWire<V1UserInfo>;
  const name = asText(username);
  if (authenticated !== true || name === '' || name === 'system:anonymous') return 'nobody';
  return { ...rest, user: name };
}

/** A cache whose entries each expire after their own time; with too many entries it drops the oldest. */
class Expiring<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #known = new Map<string, { readonly untilMs: number; readonly value: T }>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    const known = this.#known.get(key);
    return known !== undefined && this.#clock.monotonicMs() < known.untilMs ? known.value : undefined;
  }

  remember(key: string, value: T, ttlMs: number): void {
    this.#known.delete(key);
    this.#known.set(key, { untilMs: this.#clock.monotonicMs() + ttlMs, value });
    const [oldest] = this.#known.keys();
    if (this.#known.size > rememberedResults && oldest !== undefined) this.#known.delete(oldest);
  }
}
