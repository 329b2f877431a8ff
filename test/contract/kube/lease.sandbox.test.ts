import { startSandbox } from '../../sandbox/server.ts';
import { leaseSuite } from './lease.suite.ts';

leaseSuite(startSandbox);
