import type { MutantGroup } from './group.ts';

const execute = 'src/gc/execute.ts';
const live = 'src/gc/live.ts';

/** Mutants of the executor that all units share. */
export const executeMutants: MutantGroup = {
  unit: 'execute',
  reasons: [],
  tests: ['test/unit/gc/'],
  mutants: [
    [
      'check: skips the live query of a check',
      execute,
      'await check.live?.refresh(decision, this.#signal).then(() => undefined, failure);',
      'undefined;',
    ],
    [
      'check: skips the objections after the responses',
      execute,
      'const objection = failed ?? check.objection(decision);',
      'const objection = failed;',
    ],
    [
      'check: skips the objections right before the action',
      execute,
      'if (lateObjection !== undefined) return lateObjection;',
      '',
    ],
    [
      'check: acts on a stale response',
      execute,
      'if (check.live?.isFresh(decision) === false) return check.whenSlow ?? tooSlow();',
      '',
    ],
    [
      'check: treats responses that became stale as fresh',
      execute,
      'if (checks.every((check) => check.live?.isFresh(decision) !== false)) return undefined;',
      'return undefined;',
    ],
    ['check: ignores `whenSlow` of a check', execute, 'check.whenSlow ?? tooSlow()', 'tooSlow()'],
    ['check: queries once more', execute, 'const maxAttempts = 3;', 'const maxAttempts = 4;'],
    [
      'check: checks only before the first request',
      execute,
      'const objection = await this.#verifyLive(decision);\n      if (objection !== undefined) return objection;',
      'const objection = tries === 1 && step === this.#execution.steps[0] ? await this.#verifyLive(decision) : undefined;\n      if (objection !== undefined) return objection;',
    ],
    [
      'check: a response is fresh a millisecond too long',
      live,
      'requestedAtMs < liveMs',
      'requestedAtMs <= liveMs',
    ],
    [
      'check: counts the age of a response from its arrival',
      live,
      'known.response = { value };',
      'known.response = { value };\n      Object.assign(known, { requestedAtMs: this.#options.clock.monotonicMs() });',
    ],
    ['check: a response serves any number of decisions', live, 'served.size < maxDecisions', 'true'],
    [
      'check: one object gets the response of another',
      live,
      "key === undefined ? 'all' : key(decision)",
      "key === undefined ? 'all' : key(decision) === undefined ? undefined : 'all'",
    ],
    [
      'check: a missing response is fresh',
      live,
      'known?.response !== undefined && this.#isInTime(known)',
      'known === undefined || this.#isInTime(known)',
    ],
    ['stop: continues after a stop', execute, 'this.#stopped ??= result;\n        return;', 'return;'],
    [
      'stop: continues after a shutdown',
      execute,
      "if (this.#signal.aborted) this.#stopped ??= { kind: 'stop', why: 'shutting down' };",
      '',
    ],
    [
      'stop: acts although another worker has stopped the pass',
      execute,
      'if (this.#mustStop()) return this.#stopped;\n    for',
      'for',
    ],
    ['stop: never gives up', execute, 'this.#failedInARow >= giveUpAfter', 'false'],
    [
      'stop: gives up although one succeeded',
      execute,
      'this.#failedInARow = 0;\n    this.#report',
      'this.#report',
    ],
    [
      'stop: gives up although the server has rejected one object',
      execute,
      "if (result.kind === 'keep' || result.kind === 'gone')",
      "if (result.kind === 'gone')",
    ],
    [
      'stop: gives up although one object is gone',
      execute,
      "if (result.kind === 'keep' || result.kind === 'gone')",
      "if (result.kind === 'keep')",
    ],
    ['stop: continues when nothing can succeed', execute, 'isHopeless?.(error) === true', 'false'],
    ['pace: does not wait when throttled', execute, 'this.#pausedUntilMs > clock.monotonicMs())', 'false)'],
    [
      'pace: waits as long as the server requests',
      execute,
      'Math.min(Math.max(result.forMs, 0), maxPauseMs)',
      'Math.max(result.forMs, 0)',
    ],
    [
      'pace: retries a throttled object too often',
      execute,
      'if (tries === maxThrottles)',
      'if (tries === 2 * maxThrottles)',
    ],
    [
      'pace: pauses only the throttled worker',
      execute,
      'await this.#pause();',
      'if (tries > 1) await this.#pause();',
    ],
    [
      'stop: continues when the target is met',
      execute,
      'this.#execution.enough?.(next.value) === true',
      'false',
    ],
    ['pace: ignores the rate limit', execute, 'if (startMs > now) await', 'if (startMs < now) await'],
    [
      'pace: exceeds its concurrency',
      execute,
      'length: this.#execution.concurrency',
      'length: this.#execution.concurrency + 1',
    ],
    [
      'stop: forgets the bytes that a step freed',
      execute,
      'freedBytes += result.freedBytes ?? 0;',
      'freedBytes = result.freedBytes ?? 0;',
    ],
    ['stop: reports no failure', execute, "this.#report({ kind: 'failed', decision, error });", ''],
  ],
};
