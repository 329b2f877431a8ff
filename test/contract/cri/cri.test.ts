// @bed node
import { afterAll } from 'vitest';
import { isReal } from '../project.ts';
import { startContainerd } from './containerd.ts';
import { containerSuite } from './containers.ts';
import { CriEnvironment } from './environment.ts';
import { faultSuite } from './faults.ts';
import { imageSuite } from './images.ts';
import { startRuntimeSandbox } from './runtime-sandbox.ts';
import { sandboxSuite } from './sandboxes.ts';

const bed = await (isReal ? startContainerd() : startRuntimeSandbox());
const environment = new CriEnvironment(bed, await bed.image(['bed.test/app:1']));
afterAll(() => environment.stop());

imageSuite(environment);
containerSuite(environment);
sandboxSuite(environment);
faultSuite(environment);
