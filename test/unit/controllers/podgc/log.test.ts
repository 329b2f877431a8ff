import { expect, test } from 'vitest';
import { node, owner } from '../../../builders.ts';
import { FakeCluster } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { bed, expireAll, many } from './environment.ts';

const fields = {
  ...{ pod: { namespace: 'default', name: 'p0000' }, uid: 'uid-p0000', node: 'node-1', owner: 'Job/report' },
  ...{ phase: 'Succeeded', reason: 'Expired', policy: 'default' },
};

test.each([
  { mode: 'Enforce', level: 'info', message: 'deleted pod' },
  { mode: 'DryRun', level: 'debug', message: 'would delete pod' },
] as const)(
  'in mode $mode one line tells of each pod who it was and why it goes',
  async ({ mode, level, message }) => {
    const log = new RecordingLogger();
    const cluster = new FakeCluster(many(1, { controller: owner('Job', 'report') }), [node('node-1')]);
    await bed(cluster, expireAll({ mode }), { log }).pass();
    expect(log.lines.filter((line) => line.message.endsWith(' pod'))).toEqual([
      expect.objectContaining({ level, message, fields }),
    ]);
  },
);
