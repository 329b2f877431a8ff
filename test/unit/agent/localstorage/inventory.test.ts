import { describe, expect, test } from 'vitest';
import type { StorageInventory, StoragePod } from '../../../../src/api/local-storage.ts';
import { inventoryOf } from '../../../../src/agent/localstorage/inventory.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { now } from '../../../builders.ts';
import {
  container,
  governedBy,
  mib,
  scratch,
  storagePod,
  storagePolicy,
  usage,
  type Used,
} from './builders.ts';

const rule = storagePolicy();
const governance = governedBy(rule);
const inventory = (pods: readonly StoragePod[], used: Readonly<Record<string, Used>>): StorageInventory => {
  const plan = planLocalStorage({ pods, usage: usage(used) }, { governance, now });
  const governed = { ...governance, rule };
  return inventoryOf({ governed, pods, usage: usage(used), plan, warnings: [] });
};

describe('the largest offenders', () => {
  const pods = [
    storagePod('scratch', scratch),
    storagePod('logger', { containers: [container('main', '200Mi')] }),
    storagePod('free'),
  ];

  test('are pods, or the volume with more than half of the usage of its pod', () => {
    const { offenders } = inventory(pods, {
      scratch: { total: 150, volumes: { tmp: 130 } },
      logger: { total: 190, containers: { main: { layer: 90, logs: 100 } } },
    });
    expect(offenders).toEqual([
      {
        ...{ kind: 'Pod', id: 'uid-logger', name: 'logger', namespace: 'web' },
        ...{ bytes: 190 * mib, reason: 'UnderLimit' },
      },
      {
        ...{ kind: 'Volume', id: 'uid-scratch', name: 'scratch/tmp', namespace: 'web' },
        ...{ bytes: 130 * mib, reason: 'emptydirfs.limit' },
      },
    ]);
  });

  test('never are volumes that are not measured', () => {
    const { offenders } = inventory(pods, { scratch: { total: 9 } });
    expect(offenders).toMatchObject([{ kind: 'Pod', name: 'scratch', bytes: 9 * mib }]);
  });
});

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('the most excessive eviction comes first, equal ones (%s, %s) in the order of UIDs', (...names) => {
  const pods = [...names, 'worst'].map((name) => storagePod(name, scratch));
  const equal = { volumes: { tmp: 130 } };
  const { evictionRequests } = inventory(pods, { a: equal, b: equal, worst: { volumes: { tmp: 131 } } });
  expect(evictionRequests.map(({ pod: { name } }) => name)).toEqual(['worst', 'a', 'b']);
});
