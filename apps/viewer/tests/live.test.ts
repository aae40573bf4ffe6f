// Following a run over a connection that breaks, ends, or is left.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { follow, type LiveEvents } from '../src/live';

class FakeSocket {
  static all: FakeSocket[] = [];
  onopen = (): void => undefined;
  onmessage = (_: { data: string }): void => undefined;
  onclose = (): void => undefined;
  closed = false;

  constructor(readonly address: URL) {
    FakeSocket.all.push(this);
  }
  close(): void {
    this.closed = true;
    this.onclose();
  }
}

const events = () => ({ onFrame: vi.fn(), onEnd: vi.fn(), onState: vi.fn(), onGone: vi.fn(), lastTime: () => 1.5 }) satisfies LiveEvents;
const newest = (): FakeSocket => FakeSocket.all.at(-1)!;

beforeEach(() => {
  FakeSocket.all = [];
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('location', { href: 'http://127.0.0.1:8000/' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('following a run', () => {
  it('goes on from the last frame after a lost connection', () => {
    const heard = events();
    follow(heard);
    newest().onopen();
    newest().onmessage({ data: 'frame' });
    newest().onclose();
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(2);
    expect(newest().address.href).toBe('ws://127.0.0.1:8000/live?after=1.5');
    newest().onopen();
    newest().onmessage({ data: 'end 7' });
    newest().onclose();
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(2);
    expect(heard.onFrame.mock.calls).toEqual([['frame']]);
    expect(heard.onEnd.mock.calls).toEqual([[7]]);
    expect(heard.onState.mock.calls).toEqual([[true], [false], [true]]);
    expect(heard.onGone).not.toHaveBeenCalled();
  });

  it('does not wait for a command that says that it ends', () => {
    const heard = events();
    follow(heard);
    newest().onopen();
    newest().onmessage({ data: 'frame' });
    newest().onmessage({ data: 'gone' });
    newest().onclose();
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(1);
    expect(heard.onGone).toHaveBeenCalledTimes(1);
    expect(heard.onEnd).not.toHaveBeenCalled();
    expect(heard.onState.mock.calls).toEqual([[true]]);
  });

  it('hears nothing any more once it is left', () => {
    const heard = events();
    const stop = follow(heard);
    newest().onopen();
    stop();
    expect(newest().closed).toBe(true);
    newest().onmessage({ data: 'late frame' });
    newest().onmessage({ data: 'end 7' });
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(1);
    expect(heard.onFrame).not.toHaveBeenCalled();
    expect(heard.onEnd).not.toHaveBeenCalled();
    expect(heard.onState.mock.calls).toEqual([[true]]);
  });

  it('is given up when the command does not come back', () => {
    const heard = events();
    follow(heard);
    newest().onopen();
    for (let i = 0; i < 50; ++i) {
      newest().onclose();
      vi.advanceTimersByTime(10_000);
    }
    expect(FakeSocket.all.length).toBeLessThan(10);
    expect(heard.onGone).toHaveBeenCalledTimes(1);
  });
});
