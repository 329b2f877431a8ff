import { describe, expect, test } from 'vitest';
import { usage } from '../localstorage/builders.ts';
import { crossed, planOf } from './builders.ts';

const used = usage({});

describe('demands', () => {
  const both = { containers: true, logs: true, images: true };
  const imagefs = crossed({ reading: { ...crossed().reading, signal: 'imagefs.available' } });
  test.each<readonly [string, Parameters<typeof planOf>[0], object]>([
    ['one file system', { usage: used }, both],
    ['unknown file systems', {}, both],
    [
      'images on their own, nodefs',
      { usage: usage({}, { dedicatedImageFs: true }) },
      { containers: true, logs: true, images: false },
    ],
    [
      'images on their own, imagefs',
      { usage: usage({}, { dedicatedImageFs: true }), signals: [imagefs] },
      { ...both, logs: false },
    ],
    [
      'layers elsewhere, imagefs',
      { usage: usage({}, { dedicatedImageFs: true, splitContainerFs: true }), signals: [imagefs] },
      { containers: false, logs: false, images: true },
    ],
  ])('%s', (_, facts, expected) => {
    expect(planOf(facts).demands).toMatchObject([{ threshold: '15%', wanted: 50, until: 150, ...expected }]);
  });

  test.each([
    { name: 'is crossed', secondsLeft: 0, kubeletInMs: 0 },
    { name: 'will be crossed in a minute', secondsLeft: 60, kubeletInMs: 60_000 },
    { name: 'is not approached', secondsLeft: undefined, kubeletInMs: undefined },
  ])('the threshold of the kubelet $name', ({ secondsLeft, kubeletInMs }) => {
    const signals = [crossed({ kubelets: { value: 10, text: '1%', secondsLeft } })];
    expect(planOf({ signals }).demands).toMatchObject([{ kubeletInMs }]);
  });

  test('memory is never wanted', () => {
    const memory = crossed({ reading: { ...crossed().reading, signal: 'memory.available' } });
    expect(planOf({ signals: [memory] }).demands).toEqual([]);
  });
});
