import { contractServer, startCrdCluster } from '../../cluster/servers/contract.ts';
import { reviewUsers, reviewsSuite } from './reviews.suite.ts';

reviewsSuite(async () => {
  const users = Object.entries(reviewUsers).map(([name, rules]) => ({ name, rules }));
  const cluster = await startCrdCluster({ users });
  return { ...contractServer(cluster), tokenOf: (user) => cluster.token(user) };
});
