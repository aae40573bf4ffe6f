import { describe, expect, it } from 'vitest';

import { digits, digitsOf } from '../src/dom';
import { clockDecimals } from '../src/timeline';

describe('numbers', () => {
  it.each([
    [0, '0.0000'],
    [-0, '0.0000'],
    [1, '1.0000'],
    [-12.34567, '−12.3457'],
    [0.0123456, '0.0123'],
    [0.00123456, '0.00123'],
    [-4.2e-5, '−4.20e−5'],
    [1e-300, '1.00e−300'],
    [123456.7, '123456.7000'],
    [-1.5e7, '−1.50e+7'],
    [NaN, '–'],
    [undefined, '–'],
  ])('%d is shown as %s', (value, text) => {
    expect(digits(value)).toBe(text);
  });

  it('that are nothing beside their neighbours are zero', () => {
    expect(digitsOf([1, 1e-17, -2e-6])).toEqual(['1.0000', '0.0000', '−2.00e−6']);
    expect(digitsOf([4e-6, 1e-17, 0])).toEqual(['4.00e−6', '0.0000', '0.0000']);
    expect(digitsOf([1e-17], 3, 6)).toEqual(['0.000']);
  });

  it('of a clock tell the frames of short runs apart', () => {
    expect([0, 100, 2, 0.2, 2e-3, 1e-30].map(clockDecimals)).toEqual([3, 3, 3, 3, 5, 12]);
  });
});
