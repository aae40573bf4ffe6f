// The bar with play, step, scrub, speed and loop.

import { h, iconButton, setIcon } from './dom';
import { SPEEDS, type Player } from './playback';

/** Milliseconds, or three digits of a run that takes no longer. */
export function clockDecimals(duration: number): number {
  return duration > 0 ? Math.min(Math.max(3, 2 - Math.floor(Math.log10(duration))), 12) : 3;
}

export class Timeline {
  readonly element = h('section', { class: 'timeline', 'aria-label': 'timeline' });
  private readonly play: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private readonly slider = h('input', { type: 'range', min: '0', max: '0', step: '1', value: '0', 'aria-label': 'frame' });
  private readonly clock = h('output', { class: 'clock' });
  private readonly speed = h('select', { 'aria-label': 'speed', title: 'speed' }, ...SPEEDS.map((s) => h('option', { value: String(s) }, `${s}×`)));
  readonly live = h('button', { type: 'button', class: 'live', hidden: true, title: 'stay at the newest frame' }, 'live');

  constructor(private readonly player: Player) {
    this.play = iconButton('play', 'play (space)', () => player.toggle());
    this.loop = iconButton('loop', 'loop (l)', () => {
      player.loop = !player.loop;
      player.onChange();
    });
    this.slider.addEventListener('input', () => {
      player.playing = false;
      player.follow = false;
      player.seekFrame(Number(this.slider.value));
    });
    this.speed.addEventListener('change', () => {
      player.speed = Number(this.speed.value);
      player.onChange();
    });
    this.live.addEventListener('click', () => {
      player.follow = !player.follow;
      player.playing = false;
      player.onChange();
    });
    this.element.append(
      iconButton('back', 'one frame back (←)', () => player.step(-1)),
      this.play,
      iconButton('forward', 'one frame on (→)', () => player.step(1)),
      this.slider,
      this.clock,
      this.speed,
      this.loop,
      this.live,
    );
    this.update(0);
  }

  update(numFrames: number): void {
    const { player } = this;
    this.slider.max = String(Math.max(0, numFrames - 1));
    this.slider.value = String(player.index);
    this.slider.style.setProperty('--done', `${numFrames > 1 ? (100 * player.index) / (numFrames - 1) : 0}%`);
    const decimals = clockDecimals(player.end - player.start);
    this.clock.textContent = `${player.time.toFixed(decimals)} / ${player.end.toFixed(decimals)} s`;
    this.showPlaying(player.playing);
    this.loop.setAttribute('aria-pressed', String(player.loop));
    this.live.setAttribute('aria-pressed', String(player.follow));
    this.speed.value = String(player.speed);
  }

  /** The button changes only when it must: a picture that is replaced between press and release takes the click along. */
  private showPlaying(playing: boolean): void {
    const title = playing ? 'pause (space)' : 'play (space)';
    if (this.play.title === title && this.play.ariaLabel === title) return;
    setIcon(this.play, playing ? 'pause' : 'play');
    this.play.title = title;
    this.play.ariaLabel = title;
  }
}
