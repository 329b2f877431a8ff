import type { MutantGroup } from '../group.ts';

const credentials = 'src/kube/auth/credentials.ts';
const inCluster = 'src/kube/auth/in-cluster.ts';
const reviews = 'src/kube/auth/access-reviews.ts';

/** As whom we act, and who may read our metrics. */
export const kubeAuthMutants: MutantGroup = {
  unit: 'kube/auth',
  reasons: [],
  tests: ['test/unit/kube/auth/'],
  mutants: [
    ['access: a token that is not authenticated', reviews, 'authenticated !== true || ', ''],
    [
      'access: a missing result authenticates nobody',
      reviews,
      'authenticated !== true',
      'authenticated === false',
    ],
    ['access: without a name', reviews, "name === '' || ", ''],
    ['access: the anonymous user', reviews, " || name === 'system:anonymous'", ''],
    [
      'access: the right must be granted',
      reviews,
      'allowed === true && denied !== true',
      'allowed !== false && denied !== true',
    ],
    ['access: a right that is denied', reviews, ' && denied !== true', ''],
    ['access: without a token', reviews, "if (token === undefined) return 'unauthenticated';", ''],
    [
      'access: the path',
      reviews,
      'nonResourceAttributes: { path, verb',
      "nonResourceAttributes: { path: '/', verb",
    ],
    ['access: a right of one user', reviews, 'const key = JSON.stringify(spec);', 'const key = path;'],
    [
      'access: a token with an error is not remembered',
      reviews,
      "user !== 'nobody' || asText(status.error) === ''",
      'true',
    ],
    ['access: a token is forgotten', reviews, 'const tokenTtlMs = minute;', 'const tokenTtlMs = 2 * minute;'],
    ['access: a right is forgotten', reviews, 'isAllowed ? allowedTtlMs : deniedTtlMs', 'Infinity'],
    [
      'access: a denial is forgotten sooner',
      reviews,
      'isAllowed ? allowedTtlMs : deniedTtlMs',
      'allowedTtlMs',
    ],
    [
      'access: until the end of its time',
      reviews,
      'this.#clock.monotonicMs() < known.untilMs',
      'this.#clock.monotonicMs() <= known.untilMs',
    ],
    [
      'memory: the oldest result',
      reviews,
      'if (this.#known.size > this.#limit && oldest !== undefined) this.#known.delete(oldest);',
      '',
    ],
    [
      'memory: too many reviews at once',
      reviews,
      "if (this.#inProgress >= reviewsAtOnce) throw new Error('too many reviews of access at once');",
      '',
    ],
    ['memory: a review that is over', reviews, '      this.#inProgress -= 1;\n', ''],
    ['deadline: all attempts of one review', reviews, ' || clock.monotonicMs() + pauseMs >= deadlineMs', ''],
    ['deadline: an attempt', reviews, 'path, body, timeoutMs, retries: 0', 'path, body, retries: 0'],
    ['pace: attempts of one review', reviews, 'attempt >= tries || ', ''],
    ['pace: a rejection is not retried', reviews, ' || !isTransient(err)) throw err;', ') throw err;'],
    [
      'access: credentials are read again',
      credentials,
      'this.#clock.monotonicMs() - this.#readAtMs >= rereadMs',
      'this.#readAtMs < 0',
    ],
    ['access: credentials are read after a rejection', credentials, '    this.#readAtMs = -Infinity;\n', ''],
    ['access: a plugin learns of a rejection', credentials, '    this.#isRejected = true;\n', ''],
    [
      'access: a rejection is over after a read',
      credentials,
      'if (isRejected) this.#isRejected = false;',
      '',
    ],
    [
      'access: credentials are read once at a time',
      credentials,
      'this.#reading ??= this',
      'this.#reading = this',
    ],
    [
      'access: the same certificates, the same connections',
      credentials,
      'isSameTls(tls, this.#identity.tls) ? this.#identity.tls : tls',
      'tls',
    ],
    [
      'access: new certificates, new connections',
      credentials,
      'isSameTls(tls, this.#identity.tls) ? this.#identity.tls : tls',
      'this.#identity.tls',
    ],
    [
      'access: the files while they are replaced',
      inCluster,
      'if (known === undefined) throw err;\n      return known;',
      'throw err;',
    ],
    ['access: an empty token', inCluster, "if (text.trim() === '') throw", 'if (false) throw'],
    ['access: the token without its newline', inCluster, 'bearer(token.trim())', 'bearer(token)'],
  ],
};
