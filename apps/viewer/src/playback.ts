// Time: playing, stepping, scrubbing, at any speed, around and around. Knows only times.

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8] as const;

export class Player {
  playing = false;
  loop = true;
  speed = 1;
  /** Seconds of the recording. */
  time = 0;
  index = 0;
  /** Stay at the newest frame while frames come in. */
  follow = false;
  onChange: () => void = () => undefined;

  constructor(private readonly times: () => readonly number[]) {}

  get start(): number {
    return this.times()[0] ?? 0;
  }
  get end(): number {
    const times = this.times();
    return times[times.length - 1] ?? 0;
  }

  private find(time: number): number {
    const times = this.times();
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      // a hair late, so that stepping onto a time means that frame
      if (times[middle]! <= time + 1e-12) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  seek(time: number): void {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.index = this.find(this.time);
    this.onChange();
  }

  seekFrame(index: number): void {
    const times = this.times();
    if (times.length === 0) return;
    this.index = Math.min(Math.max(Math.round(index), 0), times.length - 1);
    this.time = times[this.index]!;
    this.onChange();
  }

  /** So many frames on; playing ends. */
  step(frames: number): void {
    this.playing = false;
    this.follow = false;
    this.seekFrame(this.index + frames);
  }

  toggle(): void {
    this.playing = !this.playing;
    this.follow = false;
    if (this.playing && this.time >= this.end) this.time = this.start;
    this.seek(this.time);
  }

  faster(by: number): void {
    const at = SPEEDS.findIndex((speed) => speed >= this.speed);
    this.speed = SPEEDS[Math.min(Math.max(at + by, 0), SPEEDS.length - 1)]!;
    this.onChange();
  }

  /** Real seconds have passed. */
  advance(seconds: number): void {
    if (this.follow) {
      if (this.index !== this.times().length - 1) this.seekFrame(this.times().length - 1);
      return;
    }
    if (!this.playing || this.times().length < 2) return;
    let time = this.time + this.speed * seconds;
    if (time > this.end) {
      if (this.loop) {
        const duration = this.end - this.start;
        time = this.start + ((time - this.start) % duration);
      } else {
        time = this.end;
        this.playing = false;
      }
    }
    this.seek(time);
  }
}
