import { startSandbox } from '../../sandbox/server.ts';
import { nodeReportSuite } from './node-report.suite.ts';

nodeReportSuite(startSandbox);
