import { expect, test } from 'vitest';
import { withMissingRight } from '../../../../src/commands/cli/denied.ts';

const denied = (what: string): string => `listing x: x is forbidden: User "jane" cannot ${what}`;

test.each([
  {
    name: 'everywhere',
    what: 'list resource "pods" in API group "" at the cluster scope',
    check: 'can-i list pods -A; an administrator grants it by a ClusterRole with verb list on pods',
  },
  {
    name: 'of a kind without namespace',
    what: 'list resource "gcpolicies" in API group "gc.dustpan.dev" at the cluster scope',
    check:
      'can-i list gcpolicies.gc.dustpan.dev; an administrator grants it by a ClusterRole with verb list on gcpolicies.gc.dustpan.dev',
  },
  {
    name: 'of a subresource in a namespace',
    what: 'create resource "pods/exec" in API group "" in the namespace "dustpan"',
    check:
      'can-i create pods/exec -n dustpan; an administrator grants it by a Role of namespace dustpan, or a ClusterRole, with verb create on pods/exec',
  },
  {
    name: 'of a subresource of a group',
    what: 'get resource "deployments/scale" in API group "apps" in the namespace "a"',
    check: 'can-i get deployments.apps/scale -n a; ',
  },
])('a missing right is named with its check: $name', ({ what, check }) => {
  expect(withMissingRight(denied(what))).toContain(`${denied(what)}; to check it, run kubectl auth ${check}`);
});

test('another line stays as it is', () => {
  expect(withMissingRight('listing pods: no response')).toBe('listing pods: no response');
});
