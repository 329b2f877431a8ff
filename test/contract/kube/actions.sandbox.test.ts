import { startSandbox } from '../../sandbox/server.ts';
import { actionsSuite } from './actions.suite.ts';

actionsSuite(startSandbox);
