import t from 'tap';
import { createMailReader } from '../../workers/mail/mail-reader.ts';

t.test('[4.20] HTML of too many tags is shown as text, as far as it was parsed, and in time', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  for (const tag of ['<div>', '<ul><li>', '<b>']) {
    const html = `<p>Hello Kim,</p>${tag.repeat(1_000_000 / tag.length)}Good bye`;
    t.match(
      await reader.display({ text: null, html }),
      { body: /^Hello Kim,[\s\S]*…$/, bodyHtml: null },
      `${tag}, for which a minute was not enough`,
    );
  }
  t.same(
    await reader.display({ text: 'Hello Kim,', html: '<i>'.repeat(30_000) }),
    { body: 'Hello Kim,', bodyHtml: null },
    'a text beside it is whole',
  );
  const many = '<b>x</b>'.repeat(9000);
  t.same(
    await reader.display({ text: 'Hello Kim,', html: many }),
    { body: 'Hello Kim,', bodyHtml: many },
    'fewer are shown as they are',
  );
});

t.test(
  '[4.20] quoted history is removed if the line above it says who wrote it when, also with only the day; quotations stay',
  async (t) => {
    const reader = createMailReader({ dnsServers: undefined });
    t.teardown(() => reader.stop());
    const quoted = '> It left on Monday.\n> Kind regards';
    for (const line of [
      'On Mon, Shop wrote:',
      'On Friday the shop wrote:',
      'On 12/11, Shop wrote:',
      'On Mon, Jan 5, 2026 at 9:14 AM Shop <shop@shop.example> wrote:',
    ])
      t.equal((await reader.display({ text: `Thanks!\n\n${line}\n${quoted}`, html: null })).body, 'Thanks!', line);
    for (const line of ['On the box somebody wrote:', 'The label says:', 'On Monday it read:'])
      t.equal(
        (await reader.display({ text: `Thanks!\n\n${line}\n${quoted}`, html: null })).body,
        `Thanks!\n\n${line}\n${quoted}`,
        line,
      );
  },
);

t.test('[4.20] formatting is shown beside a text without its history if it contains nothing more', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  const text = 'Thanks!\n\nOn Mon, Shop wrote:\n> It left.';
  t.same(await reader.display({ text, html: '<p><b>Thanks!</b></p>' }), {
    body: 'Thanks!',
    bodyHtml: '<p><b>Thanks!</b></p>',
  });
  t.same(await reader.display({ text, html: '<p><b>Thanks!</b></p><p>On Mon, Shop wrote:</p><p>It left.</p>' }), {
    body: 'Thanks!',
    bodyHtml: null,
  });
  t.same(
    await reader.display({
      text,
      html: '<p><b>Thanks!</b></p><div class="gmail_quote">On Mon, Shop wrote: It left.</div>',
    }),
    { body: 'Thanks!', bodyHtml: '<p><b>Thanks!</b></p>' },
  );
});
