import t from 'tap';
import { mailboxesElsewhere } from '../simulation/defects.ts';
import { runMailboxes } from '../simulation/mailbox-simulation.ts';

const steps = 40;
/** A longer run sets more. */
const count = Number(process.env['SIMULATION_SEEDS'] ?? 10);
/** Each defect is found long before. */
const maxSeedsOfDefect = 60;

/** On a machine ten times slower. */
const timeout = 1000 * Math.max(600, 30 * count);

t.setTimeout(timeout);

t.test(
  '[mailboxes] whatever breaks off and crashes, each mail is taken once and none is lost',
  { timeout },
  async (t) => {
    const { seeds, mails, crashes, failure } = await runMailboxes({ count, steps });
    t.comment(`${seeds} seeds, ${mails} mails, ${crashes} crashes`);
    t.equal(failure?.message, undefined);
    t.ok(crashes > seeds, 'it crashed often');
  },
);

for (const { name, finding, plant } of mailboxesElsewhere)
  t.test(`a deliberate defect is found: ${name}`, { timeout }, async (t) => {
    const remove = plant();
    try {
      const { seeds, failure } = await runMailboxes({ count: maxSeedsOfDefect, steps });
      t.match(failure?.message, finding, `after ${seeds} seeds`);
    } finally {
      remove();
    }
  });
