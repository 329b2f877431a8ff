import { startSandbox } from '../../sandbox/server.ts';
import { apiSuite } from './api.suite.ts';

apiSuite(startSandbox);
