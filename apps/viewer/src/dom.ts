// Elements without a framework.

type Child = Node | string;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean | ((event: Event) => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (typeof value === 'boolean') element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Pictures of buttons, 24 x 24. */
const ICONS = {
  play: 'M8 5v14l11-7z',
  pause: 'M6 5h4v14H6zM14 5h4v14h-4z',
  back: 'M6 5h2v14H6zM20 5v14L9 12z',
  forward: 'M16 5h2v14h-2zM4 5l11 7-11 7z',
  loop: 'M12 5V2L7 6l5 4V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z',
  home: 'M12 3 3 11h3v9h5v-6h2v6h5v-9h3z',
  camera: 'M9 4 7.5 6H4a1 1 0 0 0-1 1v12a1 1 0 0 0 1 1h16a1 1 0 0 0 1-1V7a1 1 0 0 0-1-1h-3.5L15 4zm3 4.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zm0 2a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  theme: 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2v16a8 8 0 0 1 0-16z',
  help: 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 14h2v2h-2zm1-10a4 4 0 0 1 2 7.4c-.7.4-1 .8-1 1.6h-2c0-1.700.7-2.600 1.700-3.200A2 2 0 1 0 10 10H8a4 4 0 0 1 4-4z',
  open: 'M4 5h6l2 2h8a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zm1 4v8h14V9z',
  panel: 'M3 4h18v16H3zm2 2v12h8V6zm10 0v12h4V6z',
  plot: 'M4 4h2v14h14v2H4zm4 11 3-5 3 3 4-7 1.700 1-5.500 9-3-3-1.800 3z',
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  path.setAttribute('fill-rule', 'evenodd');
  svg.append(path);
  return svg;
}

export function iconButton(name: Icon, label: string, click: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: 'icon', title: label, 'aria-label': label, click }, icon(name));
}

export function setIcon(button: HTMLButtonElement, name: Icon): void {
  button.replaceChildren(icon(name));
}

/** So many digits after the point, more where three would not be left to tell small ones apart. Very small and very large
 * ones by their power of ten; minus as minus. */
export function digits(value: number | undefined, least = 4): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return (0).toFixed(least);
  const text = size >= 1e6 || size < 1e-3 ? value.toExponential(2) : value.toFixed(Math.max(least, 2 - Math.floor(Math.log10(size))));
  return text.replaceAll('-', '−');
}

/** Of numbers that belong together: what is nothing beside the largest is rounding, and shown as zero. */
export function digitsOf(values: ArrayLike<number>, least = 4, scale = Math.max(...Array.from(values, Math.abs))): string[] {
  return Array.from(values, (value) => digits(Math.abs(value) < 1e-9 * scale ? 0 : value, least));
}
