import { startContractCluster } from '../cluster/contract.ts';
import { operatorSuite } from './operator.suite.ts';

operatorSuite(startContractCluster);
