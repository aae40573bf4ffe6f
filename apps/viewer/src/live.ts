// Frames of a run that is still going, from the command that served the page.

export interface LiveEvents {
  onFrame(line: string): void;
  /** The run is over; it had so many frames. */
  onEnd(numFrames: number): void;
  onState(connected: boolean): void;
  /** The time of the newest frame that is here. */
  lastTime(): number;
}

const FIRST_RETRY = 500;
const LAST_RETRY = 8000;

/** Stays connected until the run ends: a connection that breaks is made again, from the last frame on. */
export function follow(events: LiveEvents): void {
  let retry = FIRST_RETRY;
  let ended = false;
  const connect = (): void => {
    const address = new URL('live', location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    const after = events.lastTime();
    if (Number.isFinite(after)) address.searchParams.set('after', String(after));
    const socket = new WebSocket(address);
    socket.onopen = () => {
      retry = FIRST_RETRY;
      events.onState(true);
    };
    socket.onmessage = (message) => {
      const line = String(message.data);
      if (line.startsWith('end')) {
        ended = true;
        events.onEnd(Number(line.slice(4)));
      } else {
        events.onFrame(line);
      }
    };
    socket.onclose = () => {
      events.onState(false);
      if (ended) return;
      setTimeout(connect, retry);
      retry = Math.min(2 * retry, LAST_RETRY);
    };
  };
  connect();
}
