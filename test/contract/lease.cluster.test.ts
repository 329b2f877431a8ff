import { startContractCluster } from '../cluster/contract.ts';
import { leaseSuite } from './lease.suite.ts';

leaseSuite(startContractCluster);
