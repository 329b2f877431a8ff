import { startSandbox } from '../../sandbox/server.ts';
import { largePodsSuite } from './large-pods.suite.ts';

largePodsSuite(startSandbox);
