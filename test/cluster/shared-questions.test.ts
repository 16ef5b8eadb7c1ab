// A question that many have is asked once for those who wait, and never answered from before somebody asked.

import t from 'tap';
import { SharedQuestions } from '../../engine/runtime/cluster/shared-questions.ts';

function questions() {
  const asked: { about: string; answer: (value: string) => void; fail: (error: Error) => void }[] = [];
  const shared = new SharedQuestions<string>((about) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    asked.push({ about, answer: resolve, fail: reject });
    return promise;
  });
  return { asked, shared };
}

t.test('[cluster] who asks while a question is under way shares the next one', async (t) => {
  const { asked, shared } = questions();
  const first = shared.ask('ada');
  const later = [shared.ask('ada'), shared.ask('ada')];
  const other = shared.ask('bea');
  t.same(
    asked.map(({ about }) => about),
    ['ada', 'bea'],
  );
  asked[0]?.answer('is there');
  asked[1]?.answer('is there, too');
  t.equal(await first, 'is there');
  t.equal(await other, 'is there, too');
  t.equal(asked.length, 3);
  asked[2]?.answer('has left');
  t.same(await Promise.all(later), ['has left', 'has left']);
});

t.test('[cluster] a question that fails is no answer to the next', async (t) => {
  const { asked, shared } = questions();
  const first = shared.ask('ada');
  const second = shared.ask('ada');
  asked[0]?.fail(new Error('no answer in time'));
  await t.rejects(first, /no answer/);
  asked[1]?.answer('is there');
  t.equal(await second, 'is there');
  const third = shared.ask('ada');
  asked[2]?.answer('has left');
  t.equal(await third, 'has left', 'nothing is kept');
});
