import { startContractCluster } from '../cluster/contract.ts';
import { reflectorSuite } from './reflector.suite.ts';

reflectorSuite(startContractCluster);
