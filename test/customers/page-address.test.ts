// Conditions on addresses: a browser's address compared with a typed one.

import t from 'tap';
import { namesOf, plainAddress, readableAddress } from '../../engine/growth/page-address.ts';
import { urlPattern } from '../../engine/growth/url-patterns.ts';
import type { UrlMatch } from '../../store/growth/campaigns.ts';

const matches = (operator: UrlMatch['operator'], value: string, url: string): boolean =>
  urlPattern({ operator, value }).matches(url);

t.test('[4.4] letters that a browser encodes meet themselves, in every operator', async (t) => {
  const url = 'https://shop.example/%E6%B3%A8%E6%96%87/%e5%ae%8c%e4%ba%86';
  t.ok(matches('contains', '/注文/完了', url));
  t.ok(matches('contains', '%E6%B3%A8%E6%96%87', url), 'also as the browser has them');
  t.ok(matches('ends-with', '/完了', url));
  t.ok(matches('starts-with', 'https://shop.example/注', url));
  t.ok(matches('equals', 'https://shop.example/注文/完了', url));
  t.ok(matches('regex', '/注文/.+$', url));
  t.ok(matches('regex', '%E6%B3%A8', url), 'a pattern may be of either form');
  t.ok(matches('contains', '/cafe\u0301', 'https://shop.example/caf%C3%A9'), 'however an accent is written');
  t.notOk(matches('contains', '/注文/取消', url));
});

t.test('[4.15] the host is the same in any case and script; the path is not', async (t) => {
  t.ok(matches('equals', 'https://SHOP.example/pricing', 'https://shop.example/pricing'));
  t.ok(matches('starts-with', 'https://Müller.example/', 'https://xn--mller-kva.example/a'));
  t.notOk(matches('equals', 'https://shop.example/Pricing', 'https://shop.example/pricing'));
});

t.test('[4.15] equals and ends-with hold on tracked visits', async (t) => {
  const pricing = 'https://shop.example/pricing';
  for (const url of [
    `${pricing}?utm_source=mail&utm_campaign=may`,
    `${pricing}#plans`,
    `${pricing}/`,
    `${pricing}/?gclid=x#a`,
    `${pricing}?`,
  ]) {
    t.ok(matches('equals', pricing, url), `equals ${url}`);
    t.ok(matches('ends-with', '/pricing', url), `ends with ${url}`);
  }
  for (const url of [`${pricing}?plan=b`, `${pricing}/b`, `${pricing}?plan=b&utm_source=x`, `${pricing}//`])
    t.notOk(matches('equals', pricing, url), url);
  t.ok(matches('equals', `${pricing}?plan=b`, `${pricing}?utm_source=x&plan=b`));
  t.ok(
    matches('equals', `${pricing}?utm_source=mail`, `${pricing}?utm_source=mail&fbclid=1`),
    'the fields named in the condition count',
  );
  t.notOk(matches('equals', `${pricing}?utm_source=mail`, pricing));
  t.notOk(matches('equals', `${pricing}?utm_source=mail`, `${pricing}?utm_source=web`));
  t.ok(matches('equals', `${pricing}#plans`, `${pricing}#plans`));
  t.notOk(matches('equals', `${pricing}#plans`, `${pricing}#faq`));
  t.ok(matches('equals', `${pricing}/`, pricing));
  t.ok(matches('equals', 'https://shop.example', 'https://shop.example/'));
  t.ok(matches('ends-with', '/', 'https://shop.example/'));
  t.notOk(matches('ends-with', '/pricing/', 'https://shop.example/pricing'), 'a required slash is required');
  t.ok(matches('ends-with', '#/thanks', 'https://shop.example/#/thanks'));
});

t.test('[4.4] an encoded character that is not a letter stays encoded', async (t) => {
  t.equal(
    readableAddress('https://a.example/x%2fy%3Fz?q=%26&bad=%E6%B3'),
    'https://a.example/x%2Fy%3Fz?q=%26&bad=%E6%B3',
  );
  t.equal(readableAddress('not an address % at all'), 'not an address % at all');
  t.equal(readableAddress('https://a%20b.example/'), 'https://a b.example/');
  t.equal(plainAddress('?#', namesOf('')), '');
});
