// Frames of a run that is still going, from the command that served the page.

export interface LiveEvents {
  onFrame(line: string): void;
  /** The run is over; it had so many frames. */
  onEnd(numFrames: number): void;
  onState(connected: boolean): void;
  /** The command ended before the run did, or the connection broke and could not be made again. */
  onGone(): void;
  /** The time of the newest frame that is here. */
  lastTime(): number;
}

/** Milliseconds from a lost connection to the next try; each that fails doubles them. */
const FIRST_RETRY = 500;
const LAST_RETRY = 8000;
/** Tries in a row that fail before it is given up: about half a minute. */
const MOST_TRIES = 7;

/** Stays connected until the run ends, or until the function that it returns is called: a connection that breaks is made
 * again, from the last frame on. */
export function follow(events: LiveEvents): () => void {
  let retry = FIRST_RETRY;
  let tries = 0;
  let over = false;
  let socket: WebSocket;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const stop = (): void => {
    over = true;
    clearTimeout(timer);
    socket.close();
  };
  const lost = (): void => {
    if (over) return;
    if (++tries >= MOST_TRIES) {
      over = true;
      events.onGone();
      return;
    }
    events.onState(false);
    timer = setTimeout(connect, retry);
    retry = Math.min(2 * retry, LAST_RETRY);
  };
  const connect = (): void => {
    const address = new URL('live', location.href);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    const after = events.lastTime();
    if (Number.isFinite(after)) address.searchParams.set('after', String(after));
    socket = new WebSocket(address);
    socket.onopen = () => {
      if (over) return;
      retry = FIRST_RETRY;
      tries = 0;
      events.onState(true);
    };
    socket.onmessage = (message) => {
      // messages that were on their way when it was stopped
      if (over) return;
      const line = String(message.data);
      if (line === 'gone') {
        over = true;
        events.onGone();
        return;
      }
      if (!line.startsWith('end')) {
        events.onFrame(line);
        return;
      }
      over = true;
      events.onEnd(Number(line.slice(4)));
    };
    socket.onclose = lost;
  };
  connect();
  return stop;
}
