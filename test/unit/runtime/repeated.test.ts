import { expect, test } from 'vitest';
import { repeated } from '../../../src/runtime/repeated.ts';

test('asks once for neighbours that ask alike, and again for another, also where the answer is undefined', () => {
  const asked: (string | undefined)[] = [];
  const answer = repeated((question: string | undefined) => {
    asked.push(question);
    return question === 'b' ? undefined : `${String(question)}!`;
  });
  const answers = [undefined, undefined, 'a', 'a', 'b', 'b', 'a'].map(answer);
  expect(answers).toEqual(['undefined!', 'undefined!', 'a!', 'a!', undefined, undefined, 'a!']);
  expect(asked).toEqual([undefined, 'a', 'b', 'a']);
});
