import { startSandbox } from '../../sandbox/server.ts';
import { reviewUsers, reviewsSuite } from './reviews.suite.ts';

reviewsSuite(async () => {
  const tokenOf = (name: string): string => `token-of-${name}`;
  const users = Object.entries(reviewUsers).map(([name, rules]) => ({ name, token: tokenOf(name), rules }));
  const sandbox = await startSandbox({ users });
  return { ...sandbox, tokenOf };
});
