import { expect, test } from 'vitest';
import { View } from '../../../../src/kube/cache/view.ts';

const object = (name: string, uid: string, namespace = 'a') => ({
  uid,
  name,
  namespace,
  resourceVersion: '1',
});

function viewOf(...objects: readonly ReturnType<typeof object>[]) {
  const view = new View<ReturnType<typeof object>>();
  for (const one of objects) view.put(one);
  return view;
}

test('a late deletion does not remove a namesake', () => {
  const view = viewOf(object('web-0', 'new'));
  view.remove(object('web-0', 'old'));
  expect([...view.items.keys()]).toEqual(['new']);
});

test('a new object replaces its namesake, whose deletion was lost', () => {
  expect([...viewOf(object('web-0', 'old'), object('web-0', 'new')).items.keys()]).toEqual(['new']);
  const elsewhere = viewOf(object('web-0', 'old'), object('web-0', 'new', 'b'));
  expect([...elsewhere.items.keys()]).toEqual(['old', 'new']);
});
