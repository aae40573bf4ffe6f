// Channels over time under the timeline, with a cursor at the time that is shown. Series of one unit share a scale.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { digits, h } from './dom';
import type { Recording } from './recording';

const COLORS = ['#4da3ff', '#ffb454', '#3ddc97', '#ff5c6c', '#b48cff', '#35c9d4', '#e6d455', '#ff8fd0'];
const HEIGHT = 132;
const FONT = '11px system-ui';
/** Pixels from a label of the vertical axis to the next one, at least. */
const LABEL_SPACE = 22;
/** Pixels of an axis beside its labels. */
const TICK_SPACE = 18;
/** Axes that have room; series of further units are drawn to scales of their own. */
const MOST_AXES = 2;

/** What is written at the ticks of an axis: short, and the unit once, at the last. */
export function tickLabels(ticks: readonly (number | null)[], unit: string): string[] {
  const most = Math.max(...ticks.map((tick) => Math.abs(tick ?? 0)));
  const byPower = most >= 1e5 || most < 1e-3;
  // ticks are sums of their distance: rounding is not for readers
  const text = (tick: number): string => (byPower && tick !== 0 ? Number(tick.toPrecision(12)).toExponential().replace('e+', 'e') : String(Number(tick.toPrecision(12)) + 0));
  const last = ticks.reduce<number>((found, tick, i) => (tick === null ? found : i), -1);
  return ticks.map((tick, i) => (tick === null ? '' : `${text(tick)}${i === last && unit !== '' ? ` ${unit}` : ''}`.replaceAll('-', '−')));
}

/** As wide as the widest label needs it. */
function axisWidth(plot: uPlot, labels: string[] | null): number {
  plot.ctx.save();
  plot.ctx.font = FONT;
  const widest = Math.max(0, ...(labels ?? []).map((label) => plot.ctx.measureText(label).width));
  plot.ctx.restore();
  return Math.ceil(widest) + TICK_SPACE;
}

export class Plots {
  readonly element = h('section', { class: 'plots', 'aria-label': 'channels' });
  private readonly chips = h('div', { class: 'chips' });
  /** What the picture does not say by itself. */
  private readonly remark = h('span', { class: 'remark' });
  private readonly canvas = h('div', { class: 'plot' });
  private plot: uPlot | null = null;
  private recording: Recording | null = null;
  private readonly chosen = new Set<number>();
  private framesShown = 0;
  private time = 0;
  onSeek: (time: number) => void = () => undefined;

  constructor() {
    this.element.append(this.chips, this.canvas);
    this.element.hidden = true; // until there are channels
    new ResizeObserver(() => this.plot?.setSize({ width: this.canvas.clientWidth, height: HEIGHT })).observe(this.canvas);
  }

  setRecording(recording: Recording): void {
    this.recording = recording;
    this.chosen.clear();
    if (recording.channels.length > 0) this.chosen.add(0);
    this.chips.replaceChildren(...recording.channels.map((channel, i) => this.chip(channel.name, i)), this.remark);
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
    this.remark.textContent = units.length > MOST_AXES ? `no axis for ${units.slice(MOST_AXES).map((unit) => unit || 'what has no unit').join(', ')}` : '';
    const axis = (unit: string, extra: Partial<uPlot.Axis>): uPlot.Axis => ({
      stroke: ink,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      font: FONT,
      values: (_, ticks) => tickLabels(ticks, unit),
      ...extra,
    });
    this.plot = new uPlot(
      {
        width: Math.max(this.canvas.clientWidth, 200),
        height: HEIGHT,
        legend: { show: false },
        scales: { x: { time: false } },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        axes: [
          axis('s', { size: 24 }),
          ...units.slice(0, MOST_AXES).map((unit, i) => axis(unit, { scale: `unit ${unit}`, side: i === 0 ? 3 : 1, size: axisWidth, space: LABEL_SPACE, grid: { show: i === 0, stroke: line, width: 1 } })),
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
    this.chips.querySelectorAll('.chip').forEach((chip, i) => {
      chip.querySelector('.value')!.textContent = Number.isInteger(values[i]) ? String(values[i]) : digits(values[i], 3);
    });
  }
}
