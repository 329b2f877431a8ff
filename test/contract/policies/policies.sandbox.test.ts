import { startSandbox } from '../../sandbox/server.ts';
import { policiesSuite } from './policies.suite.ts';

policiesSuite(startSandbox);
