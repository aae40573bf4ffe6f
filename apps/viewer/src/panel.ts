// The panel at the side: what is shown, the bodies, the numbers of the selected one, joints, and where it all comes from.

import { ghostColor, type Drawn } from './bodies';
import { digits, digitsOf, h } from './dom';
import type { BodyNumbers } from './numbers';
import { TOGGLES, type Show, type Toggle } from './options';
import type { Contact, Ghost, Pair, Recording } from './recording';
import { slidersOf, type Moved, type Slider } from './sliders';

const MOST_CONTACTS = 12;

function row(name: string, ...values: string[]): HTMLTableRowElement {
  return h('tr', {}, h('th', {}, name), ...values.map((value) => h('td', {}, value)));
}

function vectorRow(name: string, v: ArrayLike<number> | null, unit: string): HTMLTableRowElement {
  return row(unit === '' ? name : `${name} ${unit}`, ...(v === null ? ['–'] : digitsOf(v)));
}

/** Of numbers up to one. */
function thousandths(x: number): string {
  // no minus before zero
  return (Math.round(1000 * x) / 1000 + 0).toFixed(3).replace('-', '−');
}

function section(title: string, open: boolean, ...children: Node[]): HTMLDetailsElement {
  return h('details', { open, class: `section section-${title.toLowerCase()}` }, h('summary', {}, title), ...children);
}

export class Panel {
  readonly element = h('aside', { class: 'panel', 'aria-label': 'details' });
  onShow: (show: Show) => void = () => undefined;
  onSelect: (body: number) => void = () => undefined;
  onSliders: (moved: Moved | null) => void = () => undefined;

  private readonly boxes = new Map<Toggle, HTMLInputElement>();
  private readonly drawn = h('select', { 'aria-label': 'kind of shapes' }, ...(['visual', 'collision', 'both'] as const).map((d) => h('option', { value: d }, d)));
  private readonly filter = h('input', { type: 'search', placeholder: 'find a body', 'aria-label': 'find a body' });
  private readonly bodyList = h('ul', { class: 'bodies' });
  private readonly ghostList = h('ul', { class: 'ghosts' });
  private readonly numbers = h('table', { class: 'numbers' });
  private readonly selectedName = h('p', { class: 'selected' });
  private readonly pairTable = h('table', { class: 'numbers' });
  private readonly joints = h('div', { class: 'joints' });
  private readonly back = h('button', { type: 'button', class: 'plain', disabled: true }, 'back to the recording');
  private readonly stamp = h('table', { class: 'numbers stamp' });
  private readonly sections: Record<'ghosts' | 'selection' | 'pair' | 'joints' | 'bodies' | 'recording', HTMLDetailsElement>;
  private sliders: { slider: Slider; input: HTMLInputElement; value: HTMLOutputElement }[] = [];
  private moved: Moved | null = null;

  constructor(private show: Show) {
    const checks = h('div', { class: 'checks' });
    for (const { name, label, key } of TOGGLES) {
      const box = h('input', { type: 'checkbox', name });
      box.addEventListener('change', () => this.onShow({ ...this.show, [name]: box.checked }));
      this.boxes.set(name, box);
      checks.append(h('label', {}, box, h('span', {}, label), h('kbd', {}, key)));
    }
    this.drawn.addEventListener('change', () => this.onShow({ ...this.show, drawn: this.drawn.value as Drawn }));
    checks.append(h('label', {}, h('span', {}, 'shapes'), this.drawn, h('kbd', {}, 'v')));
    this.filter.addEventListener('input', () => this.filterBodies());
    this.back.addEventListener('click', () => {
      this.moved = null;
      this.onSliders(null);
    });

    this.sections = {
      ghosts: section('Ghosts', true, this.ghostList),
      selection: section('Selection', true, this.selectedName, this.numbers),
      pair: section('Pair', true, this.pairTable),
      joints: section('Joints', true, this.joints),
      bodies: section('Bodies', true, this.filter, this.bodyList),
      recording: section('Recording', false, this.stamp),
    };
    // until there is something to say
    for (const part of Object.values(this.sections)) part.hidden = true;
    this.setPairs(false);
    this.showGhosts([]);
    this.element.append(section('Show', true, checks), ...Object.values(this.sections));
  }

  setRecording(recording: Recording): void {
    const names = recording.bodies.map((name, b) => {
      const button = h('button', { type: 'button' }, name === '' ? `body ${b}` : name);
      button.addEventListener('click', () => this.onSelect(b));
      return h('li', {}, button);
    });
    this.bodyList.replaceChildren(...names);
    this.filter.hidden = names.length < 10;
    this.filter.value = '';
    this.showStamp(recording);
    this.makeSliders(recording);
    this.showGhosts(recording.ghosts);
    this.sections.bodies.hidden = this.sections.recording.hidden = false;
  }

  private showGhosts(ghosts: Ghost[]): void {
    this.boxes.get('ghosts')!.closest('label')!.hidden = ghosts.length === 0;
    this.sections.ghosts.hidden = ghosts.length === 0;
    const items = ghosts.map(({ name }, i) => {
      const swatch = h('span', { class: 'swatch' });
      swatch.style.background = ghostColor(i);
      return h('li', {}, swatch, name === '' ? `ghost ${i + 1}` : name);
    });
    this.ghostList.replaceChildren(...items);
  }

  /** Only what a recording has is offered. */
  setPairs(some: boolean): void {
    for (const name of ['witnesses', 'scaled'] as const) this.boxes.get(name)!.closest('label')!.hidden = !some;
    this.sections.pair.hidden = !some;
  }

  setShow(show: Show): void {
    this.show = show;
    for (const [name, box] of this.boxes) box.checked = show[name];
    this.drawn.value = show.drawn;
  }

  private filterBodies(): void {
    const wanted = this.filter.value.toLowerCase();
    for (const item of this.bodyList.children) (item as HTMLElement).hidden = !(item.textContent ?? '').toLowerCase().includes(wanted);
  }

  private showStamp(recording: Recording): void {
    const { madeBy } = recording;
    const rows = [row('name', recording.name)];
    if (madeBy.program !== '') rows.push(row('made by', madeBy.program));
    if (madeBy.command !== '') rows.push(row('command', madeBy.command));
    if (madeBy.seed !== '') rows.push(row('seed', madeBy.seed));
    if (recording.timeStep > 0) rows.push(row('time step', `${recording.timeStep} s`));
    rows.push(row('bodies', String(recording.bodies.length)));
    for (const [name, value] of madeBy.options) rows.push(row(name, value));
    this.stamp.replaceChildren(...rows);
  }

  // the selected body

  select(body: number, name: string): void {
    [...this.bodyList.children].forEach((item, b) => item.classList.toggle('selected', b === body));
    this.sections.selection.hidden = body < 0;
    this.selectedName.textContent = name;
    const item = this.bodyList.children[body] as HTMLElement | undefined;
    // only the list scrolls, not the panel
    if (item !== undefined) this.bodyList.scrollTop = item.offsetTop - this.bodyList.offsetTop - 90;
  }

  showNumbers(numbers: BodyNumbers, contacts: Contact[], names: string[], body: number): void {
    const rows = [
      row('', 'x', 'y', 'z'),
      vectorRow('position', numbers.position, 'm'),
      vectorRow('velocity', numbers.velocity, 'm/s'),
      vectorRow('turn rate', numbers.angularVelocity, 'rad/s'),
      vectorRow('impulse', numbers.impulse, 'N s'),
    ];
    const quaternion = h('tr', {}, h('th', { title: 'x y z w' }, 'quaternion'), h('td', { colspan: '3' }, numbers.quaternion.map(thousandths).join('  ')));
    rows.splice(2, 0, quaternion);
    const own = contacts.filter((contact) => contact.bodies.includes(body));
    if (own.length > 0) rows.push(h('tr', {}, h('th', { colspan: '4', class: 'sub' }, `${own.length} contact${own.length > 1 ? 's' : ''}`)));
    for (const contact of own.slice(0, MOST_CONTACTS)) {
      const other = contact.bodies[0] === body ? contact.bodies[1] : contact.bodies[0];
      const strength = Math.hypot(...contact.impulse);
      rows.push(h('tr', {}, h('th', {}, names[other] ?? ''), h('td', { colspan: '2' }, contact.type), h('td', {}, digits(strength, 3))));
    }
    this.numbers.replaceChildren(...rows);
  }

  showPairs(pairs: Pair[], names: string[]): void {
    const rows: HTMLTableRowElement[] = [];
    for (const pair of pairs) {
      rows.push(h('tr', {}, h('th', { colspan: '4', class: 'sub' }, `${names[pair.bodies[0]]!} and ${names[pair.bodies[1]]!}`)));
      if (pair.alpha !== null) rows.push(row('α', digits(pair.alpha, 6)), vectorRow('point', pair.point, ''));
      rows.push(vectorRow('witness A', pair.witnessA, ''), vectorRow('witness B', pair.witnessB, ''), vectorRow('normal', pair.normal, ''));
    }
    this.pairTable.replaceChildren(...rows);
  }

  // joints

  private makeSliders(recording: Recording): void {
    this.moved = null;
    this.back.disabled = true;
    const sliders = slidersOf(recording);
    this.sections.joints.hidden = sliders.length === 0;
    this.sliders = sliders.map((slider) => {
      const input = h('input', { type: 'range', min: String(slider.lower), max: String(slider.upper), step: 'any', value: '0', 'aria-label': slider.name });
      input.addEventListener('input', () => {
        this.moved ??= new Map();
        this.moved.set(slider, Number(input.value));
        this.onSliders(this.moved);
      });
      return { slider, input, value: h('output', {}) };
    });
    this.joints.replaceChildren(this.back, ...this.sliders.map(({ slider, input, value }) => h('label', {}, h('span', { title: slider.name }, slider.name), input, value)));
  }

  get hasSliders(): boolean {
    return this.sliders.length > 0;
  }

  /** Where the sliders are; `moved`: by the user's hand. */
  showCoordinates(q: ArrayLike<number>, moved: boolean): void {
    this.back.disabled = !moved;
    for (const { slider, input, value } of this.sliders) {
      const at = slider.read(q);
      if (document.activeElement !== input || !moved) input.value = String(at);
      [value.textContent] = digitsOf([at], 3, slider.upper - slider.lower) as [string];
    }
  }
}
