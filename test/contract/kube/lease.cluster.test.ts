import { startContractCluster } from '../../cluster/servers/contract.ts';
import { leaseSuite } from './lease.suite.ts';

leaseSuite(startContractCluster);
