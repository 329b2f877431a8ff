import { expect } from 'vitest';
import type { SandboxOptions } from '../sandbox/server.ts';

/** A user `dustpan` who may do everything but this, while it is missing. */
export const everythingBut = (
  verb: string,
  resource: string,
  isMissing: () => boolean = () => true,
): SandboxOptions => ({
  users: [
    {
      ...{ name: 'dustpan', token: 'dustpan-token' },
      allow: (asked) =>
        !(asked.isResource && asked.verb === verb && asked.resource === resource && isMissing()),
    },
  ],
});

/** One line, no stack. */
export function expectOneLine(stderr: string, message: RegExp): void {
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
}
