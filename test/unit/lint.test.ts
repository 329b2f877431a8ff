import { ESLint } from 'eslint';
import { describe, expect, test } from 'vitest';

// These rules need no types; without types the paths need not exist.
const bans = [
  '@typescript-eslint/no-restricted-imports',
  'no-restricted-syntax',
  'no-restricted-properties',
  'no-console',
];
const eslint = new ESLint({
  overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
  ruleFilter: ({ ruleId }) => bans.includes(ruleId),
});

async function violations(filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath });
  return (result?.messages ?? []).map(({ ruleId, message }) => ruleId ?? message);
}

const plan = 'src/controllers/podgc/plan.ts';
const unit = 'src/controllers/podgc/controller.ts';
const agent = 'src/agent/imagegc/manager.ts';
const agentPlan = 'src/agent/imagegc/plan.ts';
const typeOf = (path: string) => `import type { X } from '${path}'; export type Y = X;`;
const valueOf = (path: string) => `import { x } from '${path}'; export const y = x;`;

describe('imports', () => {
  const rule = '@typescript-eslint/no-restricted-imports';
  test.each([
    { name: 'runtime imports api', file: 'src/runtime/scheduling/loop.ts', from: '../api/reasons.ts' },
    { name: 'api imports kube', file: 'src/api/policy/policy.ts', from: '../kube/objects.ts' },
    { name: 'api imports a unit', file: 'src/api/policy/policy.ts', from: '../controllers/podgc/plan.ts' },
    {
      name: 'kube imports controllers',
      file: 'src/kube/lease/lease.ts',
      from: '../controllers/podgc/plan.ts',
    },
    { name: 'cri imports the agent', file: 'src/cri/client.ts', from: '../agent/imagegc/plan.ts' },
    { name: 'node imports a command', file: 'src/node/logs/logs.ts', from: '../../commands/cli/config.ts' },
    { name: 'gc imports kube', file: 'src/gc/execute.ts', from: '../kube/http/transport.ts' },
    { name: 'gc imports a unit', file: 'src/gc/execute.ts', from: '../agent/imagegc/plan.ts' },
    { name: 'a unit imports a value of kube', file: unit, from: '../../kube/transport.ts' },
    { name: 'a unit imports a value of cri', file: agent, from: '../../cri/client.ts' },
    { name: 'a unit imports a value of node', file: agent, from: '../../node/filesystem.ts' },
    { name: 'a unit imports client-node', file: unit, from: '@kubernetes/client-node' },
    { name: 'a unit imports gRPC', file: agent, from: '@grpc/grpc-js' },
    { name: 'a unit imports node:fs', file: agent, from: 'node:fs' },
    { name: 'a unit imports its sibling', file: unit, from: '../policystatus/plan.ts' },
    { name: 'a plan imports its sibling unit', file: plan, from: '../eviction/plan.ts' },
    { name: 'a unit imports a command', file: unit, from: '../../commands/cli/config.ts' },
  ])('forbidden: $name', async ({ file, from }) => {
    expect(await violations(file, valueOf(from))).toEqual([rule]);
  });

  test.each([
    {
      name: 'a unit imports even a type of its sibling',
      file: unit,
      code: typeOf('../policystatus/plan.ts'),
    },
    {
      name: 'a unit imports even a type of a command',
      file: unit,
      code: typeOf('../../commands/cli/config.ts'),
    },
    {
      name: 'api imports even a type of kube',
      file: 'src/api/policy/policy.ts',
      code: typeOf('../kube/objects.ts'),
    },
  ])('forbidden: $name', async ({ file, code }) => {
    expect(await violations(file, code)).toEqual([rule]);
  });

  test.each([
    { name: 'runtime imports runtime', file: 'src/runtime/scheduling/loop.ts', code: valueOf('./errors.ts') },
    {
      name: 'api imports runtime',
      file: 'src/api/policy/policy.ts',
      code: valueOf('../runtime/duration.ts'),
    },
    { name: 'kube imports api', file: 'src/kube/lease/lease.ts', code: valueOf('../api/reasons.ts') },
    { name: 'a unit imports a type of kube', file: unit, code: typeOf('../../kube/cluster.ts') },
    { name: 'a unit imports api and runtime', file: unit, code: valueOf('../../api/matching.ts') },
    { name: 'a unit imports its own plan', file: unit, code: valueOf('./plan.ts') },
    { name: 'a controller imports a value of runtime', file: unit, code: valueOf('../../runtime/errors.ts') },
    {
      name: 'cli imports everything',
      file: 'src/commands/controller/controller.ts',
      code: valueOf('../controllers/podgc/controller.ts'),
    },
  ])('allowed: $name', async ({ file, code }) => {
    expect(await violations(file, code)).toEqual([]);
  });
});

describe('code', () => {
  const syntax = 'no-restricted-syntax';
  test.each([
    { name: 'a plan awaits', file: plan, code: 'export async function f() { await g(); }', rule: syntax },
    {
      name: 'a plan has an async arrow',
      file: agentPlan,
      code: 'export const f = async () => 1;',
      rule: syntax,
    },
    { name: 'a plan logs', file: plan, code: valueOf('../../runtime/logger.ts'), rule: syntax },
    { name: 'a plan has a clock', file: plan, code: valueOf('../../runtime/clock.ts'), rule: syntax },
    { name: 'a plan reads the time', file: plan, code: 'export const f = () => new Date();', rule: syntax },
    { name: 'a plan has a default export', file: plan, code: 'export default 1;', rule: syntax },
    {
      name: 'new Date() in an adapter',
      file: 'src/kube/lease/lease.ts',
      code: 'export const f = () => new Date();',
      rule: syntax,
    },
    {
      name: 'Date.now in a controller',
      file: unit,
      code: 'export const f = () => Date.now();',
      rule: syntax,
    },
    {
      name: 'Date.now in the config',
      file: 'src/commands/cli/config.ts',
      code: 'export const f = () => Date.now();',
      rule: syntax,
    },
    { name: 'setTimeout', file: 'src/runtime/scheduling/loop.ts', code: 'setTimeout(f, 1);', rule: syntax },
    {
      name: 'setInterval',
      file: 'src/commands/controller/controller.ts',
      code: 'setInterval(f, 1);',
      rule: syntax,
    },
    {
      name: 'process.env',
      file: 'src/kube/http/transport.ts',
      code: 'export const f = () => process.env;',
      rule: syntax,
    },
    {
      name: 'process.env in the wiring',
      file: 'src/dustpan.ts',
      code: 'export const f = () => process.env;',
      rule: syntax,
    },
    { name: 'process.env in a plan', file: plan, code: 'export const f = () => process.env;', rule: syntax },
    { name: 'a default export', file: 'src/dustpan.ts', code: 'export default 1;', rule: syntax },
    {
      name: 'a default export of a test',
      file: 'test/unit/x.test.ts',
      code: 'export default 1;',
      rule: syntax,
    },
    { name: 'console', file: 'src/main.ts', code: 'console.log(1);', rule: 'no-console' },
    {
      name: 'vi.mock',
      file: 'test/unit/x.test.ts',
      code: "vi.mock('./x.ts');",
      rule: 'no-restricted-properties',
    },
    {
      name: 'vi.spyOn',
      file: 'test/unit/x.test.ts',
      code: "vi.spyOn(a, 'b');",
      rule: 'no-restricted-properties',
    },
  ])('forbidden: $name', async ({ file, code, rule }) => {
    expect(await violations(file, code)).toEqual([rule]);
  });

  test.each([
    { name: 'a controller awaits', file: unit, code: 'export async function f() { await g(); }' },
    { name: 'a manager has a clock', file: agent, code: valueOf('../../runtime/clock.ts') },
    { name: 'a plan imports the type of a clock', file: plan, code: typeOf('../../runtime/clock.ts') },
    { name: 'a date of a given time', file: plan, code: 'export const f = (ms) => new Date(ms);' },
    {
      name: 'the clock reads the time',
      file: 'src/runtime/scheduling/clock.ts',
      code: 'export const f = () => new Date();',
    },
    {
      name: 'the config reads the environment',
      file: 'src/commands/cli/config.ts',
      code: 'export const f = () => process.env;',
    },
    {
      name: 'a test reads the time',
      file: 'test/unit/x.test.ts',
      code: 'export const f = () => new Date();',
    },
    { name: 'vi.waitFor', file: 'test/unit/x.test.ts', code: 'await vi.waitFor(f);' },
  ])('allowed: $name', async ({ file, code }) => {
    expect(await violations(file, code)).toEqual([]);
  });
});
