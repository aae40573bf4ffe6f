import { describe, expect, it, vi } from 'vitest';

// the library looks at the browser when it is loaded
vi.mock('uplot', () => ({ default: class {} }));

const { tickLabels } = await import('../src/plots');

describe('labels of ticks', () => {
  it.each([
    [[0, 0.1, 0.2, 0.1 + 0.2], 's', ['0', '0.1', '0.2', '0.3 s']],
    [[-20, 0, 20], '', ['−20', '0', '20']],
    [[0, 1e7, 2e7], 'J', ['0', '1e7', '2e7 J']],
    [[1.00001e7, 1.00002e7], 'J', ['1.00001e7', '1.00002e7 J']],
    [[-5e-6, 0, 5e-6], 'N s', ['−5e−6', '0', '5e−6 N s']],
    // the library leaves out those that have no room
    [[0, 1, null], 'J', ['0', '1 J', '']],
    [[], 'J', []],
  ])('%j %s', (ticks, unit, labels) => {
    expect(tickLabels(ticks, unit)).toEqual(labels);
  });
});
