import { describe, expect, it } from 'vitest';

import { Player } from '../src/playback';

function player(times = [0, 0.5, 1, 2]): Player {
  return new Player(() => times);
}

describe('the player', () => {
  it('plays in real time, at its speed', () => {
    const p = player();
    p.toggle();
    p.advance(0.6);
    expect([p.index, p.time]).toEqual([1, 0.6]);
    p.speed = 2;
    p.advance(0.25);
    expect([p.index, p.time]).toEqual([2, 1.1]);
  });

  it('goes around, or stops at the end', () => {
    const p = player();
    p.toggle();
    p.advance(2.25);
    expect([p.index, p.time, p.playing]).toEqual([0, 0.25, true]);
    p.loop = false;
    p.advance(9);
    expect([p.index, p.time, p.playing]).toEqual([3, 2, false]);
    // from the beginning again
    p.toggle();
    expect([p.index, p.time, p.playing]).toEqual([0, 0, true]);
  });

  it('steps to neighbours, exactly, and no further than the ends', () => {
    const p = player([0, 0.1, 0.1 + 0.2, 0.4]);
    p.toggle();
    const seen = [p.index];
    for (let i = 0; i < 5; ++i) {
      p.step(1);
      seen.push(p.index);
      p.seek(p.time);
      expect(p.index).toBe(seen.at(-1));
    }
    expect(seen).toEqual([0, 1, 2, 3, 3, 3]);
    expect(p.playing).toBe(false);
    p.step(-Infinity);
    expect(p.index).toBe(0);
    p.step(Infinity);
    expect(p.index).toBe(3);
  });

  it('has speeds between its slowest and fastest', () => {
    const p = player();
    for (let i = 0; i < 20; ++i) p.faster(1);
    expect(p.speed).toBe(8);
    for (let i = 0; i < 20; ++i) p.faster(-1);
    expect(p.speed).toBe(0.05);
  });

  it('stays at the newest frame when it follows', () => {
    const times = [0, 1];
    const p = new Player(() => times);
    p.follow = true;
    p.advance(0.01);
    expect(p.index).toBe(1);
    times.push(2, 3);
    p.advance(0.01);
    expect(p.index).toBe(3);
    p.step(-1);
    times.push(4);
    p.advance(0.01);
    expect(p.index).toBe(2);
  });

  it('survives recordings without frames, or with one', () => {
    for (const times of [[], [3]]) {
      const p = player(times);
      p.toggle();
      p.advance(1);
      p.step(1);
      expect(p.index).toBe(0);
    }
  });
});
