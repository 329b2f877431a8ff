import { startSandbox } from '../../sandbox/server.ts';
import { recorderSuite } from './recorder.suite.ts';

recorderSuite(startSandbox);
