import type { MutantGroup } from './group.ts';

const execute = 'src/gc/execute.ts';
const live = 'src/gc/live.ts';

/** What stands between a plan and a removal, whatever the unit. */
export const executeMutants: MutantGroup = {
  unit: 'execute',
  reasons: [],
  tests: ['test/unit/gc/'],
  mutants: [
    [
      'check: skips the live answer of a check',
      execute,
      'await check.live?.refresh(decision, this.#signal).then(() => undefined, failure);',
      'undefined;',
    ],
    [
      'check: skips the objections after the answers',
      execute,
      'const objection = failed ?? check.objection(decision);',
      'const objection = failed;',
    ],
    [
      'check: skips the objections right before the action',
      execute,
      'if (late !== undefined) return late;',
      '',
    ],
    [
      'check: acts on an answer that is too old',
      execute,
      'if (check.live?.isFresh(decision) === false) return check.whenSlow ?? tooSlow();',
      '',
    ],
    [
      'check: takes answers that became old for fresh',
      execute,
      'if (checks.every((check) => check.live?.isFresh(decision) !== false)) return undefined;',
      'return undefined;',
    ],
    [
      'check: lets no check say what follows from slowness',
      execute,
      'check.whenSlow ?? tooSlow()',
      'tooSlow()',
    ],
    ['check: asks for ever', execute, 'const maxAttempts = 3;', 'const maxAttempts = 4;'],
    [
      'check: checks only before the first request',
      execute,
      'const objection = await this.#verify(decision);\n      if (objection !== undefined) return objection;',
      'const objection = tries === 1 && step === this.#execution.steps[0] ? await this.#verify(decision) : undefined;\n      if (objection !== undefined) return objection;',
    ],
    ['check: an answer lives a millisecond too long', live, 'askedAtMs < liveMs', 'askedAtMs <= liveMs'],
    [
      'check: an answer is as old as its arrival',
      live,
      'known.answer = { value };',
      'known.answer = { value };\n      Object.assign(known, { askedAtMs: this.#options.clock.monotonicMs() });',
    ],
    ['check: an answer serves for ever', live, 'served.size < maxDecisions', 'true'],
    [
      'check: one object has the answer of another',
      live,
      "key === undefined ? 'all' : key(decision)",
      "key === undefined ? 'all' : key(decision) === undefined ? undefined : 'all'",
    ],
    [
      'check: a missing answer is fresh',
      live,
      'known?.answer !== undefined && this.#isInTime(known)',
      'known === undefined || this.#isInTime(known)',
    ],
    ['stop: goes on after a stop', execute, 'this.#stopped ??= result;\n        return;', 'return;'],
    [
      'stop: goes on after a shutdown',
      execute,
      "if (this.#signal.aborted) this.#stopped ??= { kind: 'stop', why: 'shutting down' };",
      '',
    ],
    [
      'stop: acts although another lane has stopped the pass',
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
      'stop: gives up although the server has decided about one',
      execute,
      "if (result.kind === 'keep') this.#failedInARow = 0;",
      '',
    ],
    ['stop: goes on where nothing can succeed', execute, 'isHopeless?.(error) === true', 'false'],
    [
      'pace: does not wait for a server that throttles',
      execute,
      'this.#pausedUntilMs > clock.monotonicMs())',
      'false)',
    ],
    [
      'pace: waits as long as a server says',
      execute,
      'Math.min(Math.max(result.forMs, 0), maxPauseMs)',
      'Math.max(result.forMs, 0)',
    ],
    [
      'pace: tries a throttled object for ever',
      execute,
      'if (tries === maxThrottles)',
      'if (tries === 2 * maxThrottles)',
    ],
    [
      'pace: pauses its own lane alone',
      execute,
      'await this.#pause();',
      'if (tries > 1) await this.#pause();',
    ],
    [
      'stop: goes on when the goal is reached',
      execute,
      'this.#execution.enough?.(next.value) === true',
      'false',
    ],
    ['pace: keeps to no rate', execute, 'if (slotMs > now) await', 'if (slotMs < now) await'],
    [
      'pace: takes more at a time than it may',
      execute,
      'length: this.#execution.concurrency',
      'length: this.#execution.concurrency + 1',
    ],
    [
      'stop: forgets what a step freed',
      execute,
      'freedBytes += result.freedBytes ?? 0;',
      'freedBytes = result.freedBytes ?? 0;',
    ],
    ['stop: reports no failure', execute, "this.#report({ kind: 'failed', decision, error });", ''],
  ],
};
