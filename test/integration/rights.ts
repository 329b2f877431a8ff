import { expect } from 'vitest';
import type { SandboxOptions } from '../sandbox/server.ts';

/** A user `dustpan` who may do everything but this. */
export const everythingBut = (verb: string, resource: string): SandboxOptions => ({
  users: [
    {
      ...{ name: 'dustpan', token: 'dustpan-token' },
      allow: (asked) => !(asked.isResource && asked.verb === verb && asked.resource === resource),
    },
  ],
});

/** One line, no stack. */
export function expectOneLine(stderr: string, message: RegExp): void {
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
}
