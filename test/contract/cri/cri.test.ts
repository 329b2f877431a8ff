// @bed node
import { afterAll, describe } from 'vitest';
import { isReal } from '../project.ts';
import { startContainerd } from './containerd.ts';
import { containerSuite } from './containers.ts';
import { CriEnvironment } from './environment.ts';
import { faultSuite } from './faults.ts';
import { imageSuite } from './images.ts';
import { pullSuite } from './pulls.ts';
import { startRuntimeSandbox } from './runtime-sandbox.ts';
import { sandboxSuite } from './sandboxes.ts';

const target = await (isReal ? startContainerd() : startRuntimeSandbox());
const environment = new CriEnvironment(target, await target.image(['bed.test/app:1']));
afterAll(() => environment.stop());

describe('images', () => {
  imageSuite(environment);
  pullSuite(environment);
});
describe('containers', () => {
  containerSuite(environment);
});
describe('sandboxes', () => {
  sandboxSuite(environment);
});
describe('faults', () => {
  faultSuite(environment);
});
