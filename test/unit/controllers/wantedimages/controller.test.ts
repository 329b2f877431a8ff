import { expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import type { WantedList, WantedReading } from '../../../../src/api/wanted-images.ts';
import { WantedImagesController } from '../../../../src/controllers/wantedimages/controller.ts';
import type { Workload } from '../../../../src/kube/cache/workloads.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { workload } from './builders.ts';

const { signal } = new AbortController();

/** A cluster with a CronJob, and a policy that wants its image. */
class Environment {
  readonly clock = new FakeClock();
  readonly policySet: { ranked: readonly Policy[] } = { ranked: [] };
  workloads: readonly Workload[] = [workload('CronJob'), workload('Deployment', { replicas: 1 })];
  stored: WantedReading = 'there is none';
  lists = 0;
  readonly written: WantedList[] = [];
  isLeader = true;
  readonly controller = new WantedImagesController({
    policySet: this.policySet,
    clock: this.clock,
    log: silentLogger,
    workloads: (isListed) => {
      this.lists += 1;
      return Promise.resolve(this.workloads.filter(isListed));
    },
    read: () => Promise.resolve(this.stored),
    write: (list) => {
      this.written.push(list);
      this.stored = list;
      return Promise.resolve();
    },
    holdsLease: () => this.isLeader,
  });

  constructor(pinWanted = true) {
    this.policySet.ranked = [policy({ nodes: nodesRules({ imageGC: imageRule({ pinWanted }) }) })];
  }

  pass(): Promise<void> {
    this.clock.advance(300_000);
    return this.controller.reconcile(signal);
  }
}

test('without a policy that needs it nothing is listed', async () => {
  const env = new Environment(false);
  await env.pass();
  expect(env.lists).toBe(0);
  expect(env.written).toEqual([]);
});

test('the list is written once, after a change, and every 15 minutes', async () => {
  const env = new Environment();
  await env.pass();
  await env.pass();
  expect(env.written.map(({ images }) => images.map(({ image }) => image))).toEqual([['web']]);
  env.workloads = [];
  await env.pass();
  expect(env.written.at(-1)?.images).toEqual([]);
  await env.pass();
  expect(env.written).toHaveLength(2);
  await env.pass();
  await env.pass();
  expect(env.written).toHaveLength(3);
});

test('a controller that has lost the lease meanwhile writes nothing', async () => {
  const env = new Environment();
  env.isLeader = false;
  await env.pass();
  expect(env.lists).toBe(1);
  expect(env.written).toEqual([]);
});
