import { expect, test } from 'vitest';
import { invocation } from '../../../src/cli/invocation.ts';

test.each([
  { name: 'from a checkout', path: '/src/dist/main.js', program: 'dustpan', before: [] },
  { name: 'installed', path: '/usr/local/bin/dustpan', program: 'dustpan', before: [] },
  { name: 'by kubectl', path: '/usr/local/bin/kubectl-dustpan', program: 'kubectl dustpan', before: [] },
  {
    name: 'by the completion of kubectl',
    path: '/usr/local/bin/kubectl_complete-dustpan',
    program: 'kubectl dustpan',
    before: ['__complete'],
  },
  {
    name: 'in a directory that is called so',
    path: '/opt/kubectl-tools/dustpan',
    program: 'dustpan',
    before: [],
  },
])('started $name', ({ path, program, before }) => {
  expect(invocation(['/usr/bin/node', path, 'plan', ''])).toEqual({
    program,
    words: [...before, 'plan', ''],
  });
});
