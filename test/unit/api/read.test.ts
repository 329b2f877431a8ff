import { expect, test } from 'vitest';
import { readable } from '../../../src/api/report/read.ts';

const integer = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const text = { type: 'string', minLength: 1, maxLength: 3 };
const item = { type: 'object', required: ['name'], properties: { name: text, bytes: integer } };
const list = { type: 'array', maxItems: 2, items: item };
const time = { type: 'string', pattern: '^\\d{4}-' };
const date = { type: 'string', format: 'date-time' } as const;
const schema = {
  type: 'object',
  properties: {
    integer,
    text,
    list,
    time,
    date,
    flag: { type: 'boolean' },
    word: { type: 'string', enum: ['Idle'] },
  },
};

test('what the schema allows is read as it is', () => {
  const value = {
    integer: 7,
    text: '🧹🧹🧹',
    time: '2026-',
    date: '2026-02-28T23:00:00Z',
    flag: false,
    word: 'Idle',
    list: [{ name: 'a' }],
  };
  expect(readable(value, schema)).toEqual(value);
});

test.each([
  {
    name: 'another type',
    value: { integer: '7', text: 7, list: {}, flag: 'true', word: null },
    expected: {},
  },
  {
    name: 'a negative or inexact number',
    value: { integer: -1, list: [{ name: 'a', bytes: 2 ** 60 }] },
    expected: { list: [{ name: 'a' }] },
  },
  { name: 'a text that is too short', value: { text: '' }, expected: {} },
  { name: 'a text that is too long', value: { text: 'long' }, expected: {} },
  { name: 'a text of another form', value: { time: '<b>', word: 'Busy' }, expected: {} },
  { name: 'a time that cannot be', value: { date: '2026-02-30T23:00:00Z' }, expected: {} },
  { name: 'an unknown field', value: { flag: true, newer: 1 }, expected: { flag: true } },
  {
    name: 'an entry without a required field',
    value: { list: [{ bytes: 1 }, 3, { name: 'a' }] },
    expected: { list: [{ name: 'a' }] },
  },
  {
    name: 'more entries than allowed',
    value: { list: ['a', 'b', 'c'].map((name) => ({ name })) },
    expected: { list: [{ name: 'a' }, { name: 'b' }] },
  },
  { name: 'no object', value: [], expected: undefined },
])('absent: $name', ({ value, expected }) => {
  expect(readable(value, schema)).toEqual(expected);
});
