import { createHash } from 'node:crypto';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { Expiring } from '../../runtime/expiring.ts';
import { asObject, asText } from '../codec/json.ts';
import { parseJson } from '../codec/status.ts';
import { isTransient } from '../http/retry.ts';
import type { KubeTransport } from '../http/transport.ts';

interface AccessReviewsDeps {
  readonly transport: Pick<KubeTransport, 'send'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  /** In [0, 1), for the jitter of retries. */
  readonly random: () => number;
}

/** `unauthenticated`: nobody we know (401); `forbidden`: somebody who may not (403). */
export type Access = 'allowed' | 'unauthenticated' | 'forbidden';

/** The user of a token, as SubjectAccessReview wants it. */
interface User {
  readonly user: string;
  readonly uid: string;
  readonly groups: unknown;
  readonly extra: unknown;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
}

const tokenReview: Review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
const accessReview: Review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };

const minute = 60_000;
// As controller-runtime's WithAuthenticationAndAuthorization has them.
const tokenTtlMs = minute;
const allowedTtlMs = 5 * minute;
const deniedTtlMs = minute / 2;
const tries = 5;
const firstPauseMs = 500;
const pauseGrowth = 1.5;
const pauseJitter = 0.2;

/** All tries of one review: who scrapes does not wait longer. */
const reviewMs = 10_000;
/** Scrapers are few; whoever sends a new token with each request must not fill our memory, nor the API server's day. */
const rememberedAnswers = 256;
const reviewsAtOnce = 16;

/** Says who may `get` a path that is none of the API server's: asks it whose token that is (TokenReview) and what they may (SubjectAccessReview). */
export class AccessReviews {
  readonly #deps: AccessReviewsDeps;
  readonly #users: Expiring<User | 'nobody'>;
  readonly #rights: Expiring<Access>;
  #underWay = 0;

  constructor(deps: AccessReviewsDeps) {
    this.#deps = deps;
    this.#users = new Expiring(deps.clock, rememberedAnswers);
    this.#rights = new Expiring(deps.clock, rememberedAnswers);
  }

  /** Of the value of an Authorization header; rejects when the API server does not say. */
  async check(authorization: string | undefined, path: string, signal: AbortSignal): Promise<Access> {
    const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 'unauthenticated';
    const user = await this.#userOf(token, signal);
    return user === 'nobody' ? 'unauthenticated' : this.#accessOf(user, path, signal);
  }

  /** What comes with an error is not remembered: an authenticator that did not answer may do so the next time. As upstream's cache; kube-apiserver calls every token that it does not know an error. */
  async #userOf(token: string, signal: AbortSignal): Promise<User | 'nobody'> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#users.get(key);
    if (known !== undefined) return known;
    const status = await this.#review(tokenReview, { token }, signal);
    const user = userIn(status);
    if (user !== 'nobody' || asText(status['error']) === '') this.#users.remember(key, user, tokenTtlMs);
    return user;
  }

  async #accessOf(user: User, path: string, signal: AbortSignal): Promise<Access> {
    const spec = { ...user, nonResourceAttributes: { path, verb: 'get' } };
    const key = JSON.stringify(spec);
    const known = this.#rights.get(key);
    if (known !== undefined) return known;
    const status = await this.#review(accessReview, spec, signal);
    const isAllowed = status['allowed'] === true && status['denied'] !== true;
    const access = isAllowed ? 'allowed' : 'forbidden';
    this.#rights.remember(key, access, isAllowed ? allowedTtlMs : deniedTtlMs);
    return access;
  }

  async #review(review: Review, spec: object, signal: AbortSignal): Promise<Json> {
    if (this.#underWay >= reviewsAtOnce) throw new Error('too many reviews of access at once');
    this.#underWay += 1;
    try {
      const path = `/apis/${review.apiVersion}/${review.kind.toLowerCase()}s`;
      return await this.#ask(path, { ...review, spec }, signal);
    } catch (err) {
      throw new Error(`making a ${review.kind}`, { cause: err });
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Sent again after a failure that may pass: a review stores nothing. */
  async #ask(path: string, body: object, signal: AbortSignal): Promise<Json> {
    const { transport, clock, random } = this.#deps;
    const deadlineMs = clock.monotonicMs() + reviewMs;
    for (let attempt = 1; ; attempt += 1) {
      const timeoutMs = Math.max(1, deadlineMs - clock.monotonicMs());
      try {
        const answer = await transport.send({ method: 'POST', path, body, timeoutMs, retries: 0 }, signal);
        return asObject(asObject(parseJson(answer.body))['status']);
      } catch (err) {
        const pauseMs = firstPauseMs * pauseGrowth ** (attempt - 1) * (1 + pauseJitter * random());
        const isOver = attempt >= tries || clock.monotonicMs() + pauseMs >= deadlineMs;
        if (signal.aborted || isOver || !isTransient(err)) throw err;
        await clock.sleep(pauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }
}

type Json = Readonly<Record<string, unknown>>;

/** A status of another form authenticates nobody. */
function userIn({ authenticated, user }: Json): User | 'nobody' {
  const { username, uid, groups, extra } = asObject(user);
  const name = asText(username);
  if (authenticated !== true || name === '' || name === 'system:anonymous') return 'nobody';
  return { user: name, uid: asText(uid), groups, extra };
}
