// The only admin of a workspace who lost every second factor, and the operator.

import { join } from 'node:path';
import t from 'tap';
import { verifyAgreement, verifyWorkspace, workspacePath } from '../../engine/operations/integrity.ts';
import { Database } from '../../store/database.ts';
import { operatorAudit } from '../../store/directory/operator-audit.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runCommand } from '../support/process.ts';
import { enrolApp } from '../support/second-factors.ts';
import { password, startService } from '../support/service.ts';

t.test('an operator restores access for an agent who lost every second factor', async (t) => {
  const dataDir = tempFolder(t);
  const env = { DATA_DIR: dataDir };
  t.match(await runCommand(['reset-second-factor', 'kim@example.org'], env), {
    code: 1,
    stderr: /there is no data in /,
  });
  const before = await startService(t, { dataDir, env: { RATE_LIMITS: 'off' } });
  const owner = await before.workspace();
  const agent = await before.agent(owner);
  await enrolApp(before, owner.token);
  await enrolApp(before, agent.token);
  t.match(
    await runCommand(['reset-second-factor', owner.email], env),
    { code: 1, stdout: '' },
    'not while it is served',
  );
  await before.stop();

  t.match(await runCommand(['reset-second-factor', owner.email.toUpperCase()], env), {
    code: 0,
    stderr: '',
    stdout: /^Removed the second factors of \S+\. The password is enough to sign in now\.\n$/,
  });
  t.match(await runCommand(['reset-second-factor', owner.email], env), { code: 1, stderr: /has no second factor/ });
  t.match(await runCommand(['reset-second-factor', 'nobody@example.org'], env), {
    code: 1,
    stderr: /has no agent with the email nobody@example.org/,
  });
  t.same(verifyWorkspace(workspacePath(dataDir, owner.workspaceId), owner.workspaceId).findings, []);
  t.same(verifyAgreement(dataDir), []);
  const directory = Database.openReader(join(dataDir, 'directory.db'));
  t.match(operatorAudit(directory), [
    {
      action: 'agent.second_factors_reset',
      targetKind: 'agent',
      targetId: owner.agentId,
      context: { workspaceId: owner.workspaceId },
    },
  ]);
  directory.close();

  // The command's clock is the machine's.
  const after = await startService(t, {
    dataDir,
    env: { RATE_LIMITS: 'off' },
    clock: new ManualClock(new Date(Date.now() + 60_000).toISOString()),
  });
  t.match(await after.get('/me', owner.token), { status: 401, body: { error: 'token_revoked' } }, 'its sign-ins ended');
  const { status, body } = await after.post('/auth/login', { email: owner.email, password });
  t.equal(status, 200);
  t.match(await after.get('/me/security', body.token), { body: { totp: null, passkeys: [], recoveryCodesLeft: 0 } });
  t.match(
    await after.post('/auth/login', { email: agent.email, password }),
    { status: 401, body: { error: 'second_factor_required' } },
    'another agent keeps its own',
  );
  t.match((await after.audited('agent.mfa_disabled', body.token))[0], {
    actorAgentId: null,
    targetId: owner.agentId,
    context: { method: 'all', by: 'operator' },
  });
  const mail = await after.mail(owner.email);
  t.equal(mail.subject, 'Your second factor was removed');
  t.match(mail.text, /The operator of the service removed /);
});
