import { startSandbox } from '../../sandbox/server.ts';
import { reflectorSuite } from './reflector.suite.ts';

reflectorSuite(startSandbox);
