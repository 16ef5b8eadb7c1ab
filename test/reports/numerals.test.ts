import t from 'tap';
import { NumeralReader, numeralsOf } from '../../store/reports/numerals.ts';
import { randomFrom } from '../support/seeded.ts';

function read(text: string): (number | 'anew')[] {
  const reader = new NumeralReader(text);
  const numbers: (number | 'anew')[] = [];
  while (!reader.isAtEnd) numbers.push(reader.startsAnew() ? 'anew' : reader.next());
  return numbers;
}

t.test('numbers survive a round trip, on both sides of every length', async (t) => {
  const edges = [0, 1, 31, 32, 1023, 1024, 32_767, 32_768, 2 ** 20, 2 ** 25 - 1, 2 ** 30, 2 ** 31, 2 ** 32 - 1];
  t.strictSame(read(numeralsOf(edges)), edges);
  const random = randomFrom(11);
  for (let round = 0; round < 200; round += 1) {
    const numbers = Array.from({ length: random.below(50) }, () => Math.floor(Math.exp(random.next() * 22)));
    t.strictSame(read(numeralsOf(numbers)), numbers);
  }
});

t.test('small numbers take a character of plain ASCII', async (t) => {
  t.equal(numeralsOf([...Array(32).keys()]).length, 32);
  t.equal(numeralsOf([32]).length, 2);
  t.equal(numeralsOf([]), '');
  t.match(numeralsOf(Array.from({ length: 5000 }, (_, index) => index)), /^[0-o]+$/);
});

t.test('combined lists stay distinct', async (t) => {
  t.strictSame(read([numeralsOf([1, 2]), '', numeralsOf([300])].join(' ')), [1, 2, 'anew', 'anew', 300]);
});
