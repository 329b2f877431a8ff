import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PolicyOperator } from '../../../src/kube/operator.ts';
import { Operator } from '../../../src/kube/operator-frame.ts';
import { statusPatcher } from '../../../src/kube/status-patch.ts';
import { PolicyFeed } from '../../fakes/policy-feed.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { FakeTransport } from '../../fakes/transport.ts';

/** The library as it is, to show what the override of its connection is for. */
class Bare extends Operator {
  protected override init(): Promise<void> {
    return Promise.resolve();
  }
}

let folder = '';
const before = process.env['KUBECONFIG'];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dustpan-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
  if (before === undefined) delete process.env['KUBECONFIG'];
  else process.env['KUBECONFIG'] = before;
});

const policyOperator = (): PolicyOperator =>
  new PolicyOperator({
    watch: new PolicyFeed().watch,
    status: statusPatcher(new FakeTransport({})),
    log: silentLogger,
    onEvent: () => Promise.resolve(),
  });

test.each([
  { name: 'that is not there', content: undefined },
  { name: 'that is no YAML', content: '{{{' },
  { name: 'that is empty', content: '' },
  {
    name: 'without a current context',
    content: 'apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\n',
  },
])('a kubeconfig $name breaks the bare frame, and not ours', ({ content }) => {
  const file = join(folder, 'config');
  if (content !== undefined) writeFileSync(file, content);
  process.env['KUBECONFIG'] = file;
  expect(() => new Bare()).toThrow();
  expect(() => policyOperator()).not.toThrow();
});
