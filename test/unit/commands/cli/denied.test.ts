import { expect, test } from 'vitest';
import { withMissingRight } from '../../../../src/commands/cli/denied.ts';

const denied = (what: string): string => `listing x: x is forbidden: User "jane" cannot ${what}`;

test.each([
  [
    'everywhere',
    'list resource "pods" in API group "" at the cluster scope',
    'can-i list pods -A; an administrator grants it by a ClusterRole with verb list on pods',
  ],
  [
    'of a kind without namespace',
    'list resource "gcpolicies" in API group "gc.dustpan.dev" at the cluster scope',
    'can-i list gcpolicies.gc.dustpan.dev; an administrator grants it by a ClusterRole with verb list on gcpolicies.gc.dustpan.dev',
  ],
  [
    'of a subresource in a namespace',
    'create resource "pods/exec" in API group "" in the namespace "dustpan"',
    'can-i create pods/exec -n dustpan; an administrator grants it by a Role of namespace dustpan, or a ClusterRole, with verb create on pods/exec',
  ],
  [
    'of a subresource of a group',
    'get resource "deployments/scale" in API group "apps" in the namespace "a"',
    'can-i get deployments.apps/scale -n a; ',
  ],
])('a missing right is named with its check: %s', (_, what, check) => {
  expect(withMissingRight(denied(what))).toContain(`${denied(what)}; to check it, run kubectl auth ${check}`);
});

test('another line stays as it is', () => {
  expect(withMissingRight('listing pods: no response')).toBe('listing pods: no response');
});
