// Puts it all together: loads recordings, keeps time, passes on what the user wants.

import { h, iconButton } from './dom';
import { parse } from './json';
import { bodyPoses, followSources, neutral } from './kinematics';
import { follow } from './live';
import { bodyNumbers } from './numbers';
import { DEFAULT_SHOW, KEYS, TOGGLES, type Show } from './options';
import { Panel } from './panel';
import { Player } from './playback';
import { Plots } from './plots';
import { addFrame, RecordingReader, type Frame, type Recording } from './recording';
import { SceneView } from './scene';
import type { Moved } from './sliders';
import { applyTheme, initialTheme, storeTheme, type Theme } from './theme';
import { Timeline } from './timeline';

/** Milliseconds of reading between two looks at the user. */
const SLICE = 20;
/** Milliseconds between two looks at frames that came in. */
const GROWTH_PAUSE = 200;
const NO_FRAME: Frame = { t: 0, poses: new Float64Array(), q: null, v: null, contacts: [], pairs: [], values: [] };

const ARROWS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'];
const PRESS = [' ', 'Enter'];

/** Whether a key means something to the control that has the focus, and so nothing to the page. */
function takesKey(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLSelectElement) return ARROWS.includes(key) || PRESS.includes(key);
  // the slider of time does what the page does
  if (target instanceof HTMLInputElement && target.type === 'range') return ARROWS.includes(key) && target.closest('.timeline') === null;
  if (target instanceof HTMLInputElement && target.type === 'search') return true;
  return isPressed(target) && PRESS.includes(key);
}

function isPressed(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches('button, summary, input[type=checkbox]');
}

export class App {
  readonly view: SceneView;
  readonly player: Player;
  recording: Recording | null = null;
  /** Milliseconds from the start of the page to the first picture of a recording. */
  firstFrame = NaN;
  loaded = false;
  selected = -1;
  show: Show = { ...DEFAULT_SHOW };
  theme: Theme;
  error = '';

  /** A live run is over, and not all of its frames came. */
  onMissed: () => void = () => undefined;

  private stopFollowing: () => void = () => undefined;
  private times: number[] = [];
  private reader: RecordingReader | null = null;
  private sliders: Moved | null = null;
  private poses: Float64Array | null = null;
  private lastTick = 0;
  private grown = false;
  private lastGrowth = 0;
  private readonly panel = new Panel(this.show);
  private readonly timeline: Timeline;
  private readonly plots = new Plots();
  private readonly stage = h('main', { class: 'stage' });
  private readonly title = h('h1', {});
  private readonly note = h('span', { class: 'note', role: 'status' });
  private readonly message = h('div', { class: 'message', role: 'alert', hidden: true });
  private readonly help: HTMLDialogElement;
  private readonly file = h('input', { type: 'file', accept: '.json,.partial', hidden: true });

  constructor(private readonly root: HTMLElement) {
    this.theme = initialTheme(root.classList.contains('embed'));
    applyTheme(this.theme);
    this.player = new Player(() => this.times);
    this.player.onChange = () => this.showTime();
    this.timeline = new Timeline(this.player);
    this.help = this.makeHelp();
    this.file.addEventListener('change', () => void this.loadFile(this.file.files?.[0]));
    root.append(this.makeHeader(), this.stage, this.panel.element, h('footer', {}, this.timeline.element, this.plots.element), this.help, this.file);
    this.stage.append(this.message);
    this.view = new SceneView(this.stage);
    this.view.setTheme(this.theme);
    this.panel.onShow = (show) => this.setShow(show);
    this.panel.onSelect = (body) => this.select(body === this.selected ? -1 : body);
    this.panel.onSliders = (moved) => this.setSliders(moved);
    this.plots.onSeek = (time) => {
      this.player.playing = false;
      this.player.follow = false;
      this.player.seek(time);
    };
    this.listen();
    this.setShow(this.show);
    this.panel.select(-1, '');
    this.tick(performance.now());
  }

  private makeHeader(): HTMLElement {
    return h(
      'header',
      {},
      h('span', { class: 'brand' }, 'Tangere'),
      this.title,
      this.note,
      iconButton('open', 'open a recording (o)', () => this.file.click()),
      iconButton('home', 'reset the view (r)', () => this.view.reset()),
      iconButton('camera', 'save a picture (k)', () => void this.savePicture()),
      iconButton('plot', 'plots (p)', () => this.togglePlots()),
      iconButton('panel', 'side panel (b)', () => this.togglePanel()),
      iconButton('theme', 'dark or light (d)', () => this.toggleTheme()),
      iconButton('help', 'keys (?)', () => this.help.showModal()),
    );
  }

  private makeHelp(): HTMLDialogElement {
    const rows = KEYS.map(([key, what]) => h('tr', {}, h('td', {}, ...key.split(' ').map((k) => h('kbd', {}, k))), h('td', {}, what)));
    const dialog = h('dialog', { class: 'help' }, h('h2', {}, 'Keys'), h('table', {}, ...rows));
    dialog.append(
      h('p', {}, 'Drag to turn, with the right button to move, wheel to come nearer. A click on a body shows its numbers. Drop a recording on the page to look at it.'),
      h('form', { method: 'dialog' }, h('button', {}, 'close')),
    );
    return dialog;
  }

  // recordings

  async loadFile(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    this.file.value = '';
    await this.load(await file.text(), file.name);
  }

  /** Shows the first frame as soon as it is read, then the rest as it comes. A live run that was shown before is left.
   * A recording that cannot be shown leaves what is shown as it is. True when all of it is read and still what is shown. */
  async load(text: string, name: string): Promise<boolean> {
    let reader: RecordingReader;
    try {
      reader = new RecordingReader(text);
      reader.readSome(0);
      this.begin(reader.recording);
    } catch (error) {
      this.fail(name, error);
      return false;
    }
    this.leaveLive();
    this.reader = reader;
    try {
      while (reader.readSome(SLICE)) {
        this.framesCame();
        this.setNote(`reading ${Math.round(100 * reader.progress)} %`);
        await new Promise((resolve) => setTimeout(resolve));
        if (this.reader !== reader) return false; // another one was opened meanwhile
      }
    } catch (error) {
      this.framesCame();
      this.fail(name, error);
      this.setNote(`could not be read to its end: ${reader.recording.frames.length} frames`);
      return false;
    }
    this.framesCame();
    this.view.fit();
    this.showTime();
    this.loaded = true;
    const { complete, frames } = reader.recording;
    this.setNote(complete ? '' : `the run did not come to its end: ${frames.length} frames`);
    return true;
  }

  /** What can fail comes first: a recording that cannot be drawn changes nothing. */
  private begin(recording: Recording): void {
    const first = recording.frames[0];
    const poses = first?.poses ?? new Float64Array(7 * recording.bodies.length).fill(NaN);
    this.view.setRecording(recording, poses);
    this.view.addFrames(recording.frames);
    this.recording = recording;
    this.loaded = false;
    this.hideMessage();
    this.selected = -1;
    this.sliders = null;
    this.poses = null;
    this.times = recording.frames.map((frame) => frame.t);
    document.title = `${recording.name || 'recording'} – Tangere`;
    this.title.textContent = recording.name;
    this.panel.setRecording(recording);
    this.panel.setPairs((first?.pairs.length ?? 0) > 0);
    this.panel.select(-1, '');
    this.plots.setRecording(recording);
    this.player.playing = false;
    this.player.seekFrame(0);
    this.root.classList.toggle('single', recording.frames.length < 2);
    this.showTime();
    this.view.renderNow();
    if (Number.isNaN(this.firstFrame)) this.firstFrame = performance.now();
  }

  /** All frames of the run that was shown live, in place of those that came: time, selection and camera stay. */
  private replaceFrames(frames: Frame[]): void {
    this.recording!.frames = frames;
    const { time } = this.player;
    this.times = frames.map((frame) => frame.t);
    this.view.addFrames(frames);
    this.view.fit();
    this.grown = true;
    this.player.seek(time);
  }

  /** Reads a run that was followed live once more, with the frames that were skipped. */
  async loadMissed(text: string): Promise<void> {
    const shown = this.recording;
    const reader = new RecordingReader(text);
    while (reader.readSome(SLICE)) {
      await new Promise((resolve) => setTimeout(resolve));
      if (this.recording !== shown) return; // another one was opened meanwhile
    }
    this.replaceFrames(reader.recording.frames);
  }

  private framesCame(): void {
    const { frames } = this.recording!;
    const fresh = frames.slice(this.times.length);
    for (const frame of fresh) this.times.push(frame.t);
    this.view.addFrames(fresh);
    this.grown = true;
  }

  /** Frames that came are drawn a few times a second, not one by one. */
  private showGrowth(now: number): void {
    if (!this.grown || now - this.lastGrowth < GROWTH_PAUSE || this.recording === null) return;
    this.grown = false;
    this.lastGrowth = now;
    this.root.classList.toggle('single', this.times.length < 2);
    if (this.loaded) this.view.fit(); // a live run
    this.plots.refresh();
    this.timeline.update(this.times.length);
  }

  /** A message over the picture. What was shown before stays, and is seen again when the message is closed. */
  fail(name: string, error: unknown): void {
    this.error = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    this.showMessage('This recording cannot be shown', this.error);
  }

  hint(): void {
    this.showMessage('No recording yet', 'Drop a recording on this page, or open one: tangere simulate SCENE --record FILE makes them.');
  }

  private showMessage(title: string, text: string): void {
    this.message.replaceChildren(h('h2', {}, title), h('p', {}, text));
    if (this.recording !== null) this.message.append(h('button', { type: 'button', class: 'plain', click: () => this.hideMessage() }, 'close'));
    this.message.hidden = false;
  }

  private hideMessage(): void {
    this.message.hidden = true;
    this.error = '';
  }

  private setNote(text: string): void {
    this.note.textContent = text;
  }

  // a run that is still going

  goLive(): void {
    const recording = this.recording!;
    this.timeline.live.hidden = false;
    this.player.follow = true;
    this.stopFollowing = follow({
      lastTime: () => this.times[this.times.length - 1] ?? -Infinity,
      onState: (connected) => this.setNote(connected ? 'live' : 'connection lost, trying again'),
      onGone: () => {
        this.leaveLive();
        this.setNote(`the command that made the run is gone: ${recording.frames.length} frames`);
      },
      onEnd: (numFrames) => {
        recording.complete = true;
        const following = this.player.follow;
        this.leaveLive();
        this.setNote('the run has ended');
        this.framesCame();
        if (following) this.player.seekFrame(this.times.length - 1);
        // what was skipped on the way
        if (this.times.length < numFrames) this.onMissed();
      },
      onFrame: (line) => {
        try {
          addFrame(recording, parse(line, 'live'));
        } catch (error) {
          this.leaveLive();
          this.fail('live', error);
          return;
        }
        if (this.times.length === 0) this.begin(recording);
        else this.framesCame();
      },
    });
  }

  /** What comes from now on is not for what is shown. */
  private leaveLive(): void {
    this.stopFollowing();
    this.stopFollowing = () => undefined;
    this.player.follow = false;
    this.timeline.live.hidden = true;
  }

  // time

  private tick = (now: number): void => {
    requestAnimationFrame(this.tick);
    // after a pause (a hidden page) time does not jump
    this.player.advance(Math.min((now - this.lastTick) / 1000, 0.25));
    this.lastTick = now;
    this.showGrowth(now);
  };

  get frame(): Frame {
    return this.recording?.frames[this.player.index] ?? NO_FRAME;
  }

  private showTime(): void {
    const { recording } = this;
    if (recording === null) return;
    const { frame } = this;
    if (frame !== NO_FRAME) {
      this.updatePoses(recording, frame);
      this.view.showFrame(frame, this.poses);
      if (frame.pairs.length > 0) this.panel.setPairs(true);
      this.panel.showPairs(frame.pairs, recording.bodies);
    }
    this.timeline.update(recording.frames.length);
    this.plots.showTime(this.player.time, frame.values);
    this.showNumbers();
  }

  /** With sliders: the frame's coordinates, but for those that were moved. */
  private updatePoses(recording: Recording, frame: Frame): void {
    if (!this.panel.hasSliders) return;
    const q = frame.q?.slice() ?? neutral(recording);
    if (this.sliders === null) {
      this.poses = null;
    } else {
      for (const [slider, value] of this.sliders) slider.write(q, value);
      followSources(recording, q);
      this.poses = bodyPoses(recording, q);
    }
    this.panel.showCoordinates(q, this.sliders !== null);
  }

  setSliders(moved: Moved | null): void {
    this.sliders = moved;
    this.player.playing = false;
    this.showTime();
  }

  private showNumbers(): void {
    const { recording, frame, selected } = this;
    if (recording === null || selected < 0 || frame === NO_FRAME) return;
    const numbers = bodyNumbers(recording, this.player.index, selected, this.poses);
    this.panel.showNumbers(numbers, this.poses === null ? frame.contacts : [], recording.bodies, selected);
  }

  // what the user wants

  setShow(show: Show): void {
    this.show = show;
    this.view.setShow(show);
    this.panel.setShow(show);
  }

  select(body: number): void {
    this.selected = body;
    this.view.select(body);
    this.panel.select(body, this.recording?.bodies[body] ?? '');
    this.showNumbers();
  }

  /** A message is closed first, if there is something behind it. */
  private escape(): void {
    if (!this.message.hidden && this.recording !== null) this.hideMessage();
    else this.select(-1);
  }

  private toggleTheme(): void {
    this.theme = this.theme === 'dark' ? 'light' : 'dark';
    applyTheme(this.theme);
    storeTheme(this.theme);
    this.view.setTheme(this.theme);
    this.plots.rebuild();
  }

  private togglePanel(): void {
    this.root.classList.toggle('no-panel');
  }

  private togglePlots(): void {
    this.root.classList.toggle('no-plots');
    this.plots.rebuild();
  }

  private async savePicture(): Promise<void> {
    const address = URL.createObjectURL(await this.view.screenshot());
    const name = `${this.recording?.name || 'tangere'}-${this.player.time.toFixed(3)}.png`;
    h('a', { href: address, download: name.replaceAll(/[^\w.-]+/g, '_') }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  private listen(): void {
    addEventListener('keydown', (event) => this.key(event));
    // who clicks has the keyboard for the page; who comes to a control by tab, for the control
    addEventListener('click', (event) => {
      if (event.detail > 0 && isPressed(document.activeElement)) document.activeElement.blur();
    });
    // a click, not the end of a drag
    let down = { x: 0, y: 0 };
    this.view.canvas.addEventListener('pointerdown', (event) => (down = { x: event.clientX, y: event.clientY }));
    this.view.canvas.addEventListener('pointerup', (event) => {
      if (event.button !== 0 || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
      const place = this.view.canvas.getBoundingClientRect();
      this.select(this.view.pick(event.clientX - place.left, event.clientY - place.top));
    });
    addEventListener('dragover', (event) => {
      event.preventDefault();
      this.root.classList.add('dropping');
    });
    addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) this.root.classList.remove('dropping');
    });
    addEventListener('drop', (event) => {
      event.preventDefault();
      this.root.classList.remove('dropping');
      void this.loadFile(event.dataTransfer?.files[0]);
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const { target } = event;
    // with caps lock letters are the same keys
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (takesKey(target, pressed)) return;
    const toggle = TOGGLES.find(({ key }) => key === pressed);
    const actions: Record<string, () => void> = {
      ' ': () => this.player.toggle(),
      ArrowLeft: () => this.player.step(event.shiftKey ? -10 : -1),
      ArrowRight: () => this.player.step(event.shiftKey ? 10 : 1),
      Home: () => this.player.step(-Infinity),
      End: () => this.player.step(Infinity),
      '+': () => this.player.faster(1),
      '=': () => this.player.faster(1),
      '-': () => this.player.faster(-1),
      l: () => {
        this.player.loop = !this.player.loop;
        this.player.onChange();
      },
      r: () => this.view.reset(),
      f: () => this.view.focus(this.selected),
      Escape: () => this.escape(),
      v: () => {
        const order = ['visual', 'collision', 'both'] as const;
        this.setShow({ ...this.show, drawn: order[(order.indexOf(this.show.drawn) + 1) % 3]! });
      },
      p: () => this.togglePlots(),
      b: () => this.togglePanel(),
      d: () => this.toggleTheme(),
      k: () => void this.savePicture(),
      o: () => this.file.click(),
      '?': () => this.help.showModal(),
    };
    const action = toggle === undefined ? actions[pressed] : () => this.setShow({ ...this.show, [toggle.name]: !this.show[toggle.name] });
    if (action === undefined) return;
    event.preventDefault();
    action();
  }
}
