import { startSandbox } from '../../sandbox/server.ts';
import { operatorSuite } from './operator.suite.ts';

operatorSuite(startSandbox);
