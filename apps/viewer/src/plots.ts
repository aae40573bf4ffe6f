// Channels over time under the timeline, with a cursor at the time that is shown. Series of one unit share a scale.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { digits, h } from './dom';
import type { Recording } from './recording';

const COLORS = ['#4da3ff', '#ffb454', '#3ddc97', '#ff5c6c', '#b48cff', '#35c9d4', '#e6d455', '#ff8fd0'];
const HEIGHT = 132;

export class Plots {
  readonly element = h('section', { class: 'plots', 'aria-label': 'channels' });
  private readonly chips = h('div', { class: 'chips' });
  private readonly canvas = h('div', { class: 'plot' });
  private plot: uPlot | null = null;
  private recording: Recording | null = null;
  private readonly chosen = new Set<number>();
  private framesShown = 0;
  private time = 0;
  onSeek: (time: number) => void = () => undefined;

  constructor() {
    this.element.append(this.chips, this.canvas);
    new ResizeObserver(() => this.plot?.setSize({ width: this.canvas.clientWidth, height: HEIGHT })).observe(this.canvas);
  }

  setRecording(recording: Recording): void {
    this.recording = recording;
    this.chosen.clear();
    if (recording.channels.length > 0) this.chosen.add(0);
    this.chips.replaceChildren(...recording.channels.map((channel, i) => this.chip(channel.name, i)));
    this.element.hidden = recording.channels.length === 0;
    this.rebuild();
  }

  private chip(name: string, index: number): HTMLButtonElement {
    const button = h('button', { type: 'button', class: 'chip', 'aria-pressed': String(this.chosen.has(index)) }, h('span', { class: 'swatch' }), name.replaceAll('_', ' '), h('b', { class: 'value' }));
    button.style.setProperty('--series', COLORS[index % COLORS.length]!);
    button.addEventListener('click', () => {
      if (!this.chosen.delete(index)) this.chosen.add(index);
      button.setAttribute('aria-pressed', String(this.chosen.has(index)));
      this.rebuild();
    });
    return button;
  }

  private data(): uPlot.AlignedData {
    const frames = this.recording!.frames;
    this.framesShown = frames.length;
    const columns: (number | null)[][] = [...this.chosen].map((c) => frames.map((frame) => (Number.isNaN(frame.values[c]!) ? null : frame.values[c]!)));
    return [frames.map((frame) => frame.t), ...columns] as uPlot.AlignedData;
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    if (this.recording === null || this.recording.channels.length === 0 || this.element.offsetParent === null) return;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue('--soft').trim();
    const line = style.getPropertyValue('--line').trim();
    const units = [...new Set([...this.chosen].map((c) => this.recording!.channels[c]!.unit))];
    const axis = (extra: Partial<uPlot.Axis>): uPlot.Axis => ({ stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: '11px system-ui', ...extra });
    this.plot = new uPlot(
      {
        width: Math.max(this.canvas.clientWidth, 200),
        height: HEIGHT,
        legend: { show: false },
        scales: { x: { time: false } },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        axes: [
          axis({ size: 24 }),
          // two units at most have room
          ...units.slice(0, 2).map((unit, i) => axis({ scale: `unit ${unit}`, side: i === 0 ? 3 : 1, size: 56, label: unit, labelSize: unit === '' ? 0 : 16, labelFont: '11px system-ui', grid: { show: i === 0, stroke: line, width: 1 } })),
        ],
        series: [{}, ...[...this.chosen].map((c) => ({ label: this.recording!.channels[c]!.name, scale: `unit ${this.recording!.channels[c]!.unit}`, stroke: COLORS[c % COLORS.length]!, width: 1.5, points: { show: false } }))],
        hooks: { draw: [(plot) => this.drawCursor(plot)] },
      },
      this.data(),
      this.canvas,
    );
    const over = this.plot.over;
    const seek = (event: PointerEvent): void => {
      if (event.buttons === 1 && this.plot !== null) this.onSeek(this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x'));
    };
    over.addEventListener('pointerdown', seek);
    over.addEventListener('pointermove', seek);
  }

  private drawCursor(plot: uPlot): void {
    const x = Math.round(plot.valToPos(this.time, 'x', true)) + 0.5;
    const { top, height } = plot.bbox;
    plot.ctx.save();
    plot.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
    plot.ctx.lineWidth = devicePixelRatio;
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, top);
    plot.ctx.lineTo(x, top + height);
    plot.ctx.stroke();
    plot.ctx.restore();
  }

  /** Frames that came in since are drawn. */
  refresh(): void {
    if (this.plot === null) this.rebuild();
    else if (this.recording !== null && this.recording.frames.length !== this.framesShown) this.plot.setData(this.data());
  }

  showTime(time: number, values: readonly number[]): void {
    this.time = time;
    this.plot?.redraw(false, false);
    [...this.chips.children].forEach((chip, i) => {
      chip.querySelector('.value')!.textContent = Number.isInteger(values[i]) ? String(values[i]) : digits(values[i], 3);
    });
  }
}
