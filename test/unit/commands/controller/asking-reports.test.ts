import { expect, test } from 'vitest';
import { AskingReports } from '../../../../src/commands/controller/asking-reports.ts';
import { nodeReportsResource, type NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';

const request = {
  pod: { namespace: 'web', name: 'a', uid: 'uid-a' },
  signal: 'ephemeralpodfs.limit',
  observedTime: '2026-01-15T12:00:00Z',
  observedBytes: 150,
  limitBytes: 100,
};

/** Reports as a watch brings them, by name; each is looked at right after it came. */
function watching() {
  const asking = new AskingReports();
  const { codec } = asking.seeing(nodeReportsResource());
  const reports = new Map<string, NodeReportFacts>();
  let looks = 0;
  const counted = new Proxy(reports, {
    get: (target, key) => {
      looks += 1;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  let version = 0;
  const says = (name: string, ...evictionRequests: readonly object[]): boolean => {
    version += 1;
    const metadata = { uid: name, name, resourceVersion: String(version) };
    reports.set(name, codec.fromJson({ metadata, status: { evictionRequests } }, reports));
    return asking.isAny(counted);
  };
  const goes = (name: string): boolean => {
    reports.delete(name);
    return asking.isAny(counted);
  };
  return { says, goes, looks: () => looks };
}

test('while no report has a request, none is read again', () => {
  const { says, goes, looks } = watching();
  for (let i = 0; i < 100; i += 1) expect(says(`node-${i}`)).toBe(false);
  expect(goes('node-1')).toBe(false);
  expect(looks()).toBe(0);
});

test('a request is known as long as its report has it, whatever other reports arrive', () => {
  const { says, goes } = watching();
  expect([says('a'), says('b', request), says('a'), says('c', request), says('b')]).toEqual([
    ...[false, true, true, true, true],
  ]);
  expect([goes('c'), says('a'), says('a', request), goes('a')]).toEqual([false, false, true, false]);
});

test('an unreadable request counts as none', () => {
  const { says, looks } = watching();
  expect(says('a', { ...request, signal: 'nonsense' })).toBe(false);
  expect(looks()).toBe(0);
});
