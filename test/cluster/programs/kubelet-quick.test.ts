import { expect, test } from 'vitest';
import { cacheFolder } from './find.ts';
import { quickPatches } from './kubelet-quick.ts';

test('a kubelet-quick differs from a kubelet in three periods and a switch', () => {
  const places = quickPatches.map(({ from }) => from.trim());
  expect(places).toEqual([
    'ContainerGCPeriod = time.Minute',
    'ImageGCPeriod = 5 * time.Minute',
    '}, 5*time.Minute',
    'if m.localStorageCapacityIsolation {',
  ]);
  const [pinned, quick] = [cacheFolder('kubernetes', {}), cacheFolder('kubelet-quick', {})];
  expect(pinned.replace(/^.*-/, '')).not.toBe(quick.replace(/^.*-/, ''));
});
