import { startContractCluster } from '../../cluster/servers/contract.ts';
import { operatorSuite } from './operator.suite.ts';

operatorSuite(startContractCluster);
