import { startContractCluster } from '../cluster/contract.ts';
import { recorderSuite } from './recorder.suite.ts';

recorderSuite(startContractCluster);
