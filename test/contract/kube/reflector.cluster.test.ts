import { startContractCluster } from '../../cluster/servers/contract.ts';
import { reflectorSuite } from './reflector.suite.ts';

reflectorSuite(startContractCluster);
