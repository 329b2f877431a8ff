import { startSandbox } from '../../sandbox/server.ts';
import { evictionSuite } from './eviction.suite.ts';

evictionSuite(startSandbox);
