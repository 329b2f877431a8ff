import { startContractCluster } from '../../cluster/servers/contract.ts';
import { recorderSuite } from './recorder.suite.ts';

recorderSuite(startContractCluster);
