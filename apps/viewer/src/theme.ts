// Dark and light: by the system's wish until the user has one of their own.

export type Theme = 'dark' | 'light';

const KEY = 'tangere-theme';

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // pages from disk may not have a store
  }
}

function systemTheme(): Theme {
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** A page inside another one (`embedded`) looks as the system does: there is no button to choose with. */
export function initialTheme(embedded: boolean): Theme {
  const wish = embedded ? null : stored();
  return wish === 'dark' || wish === 'light' ? wish : systemTheme();
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** For the next visit: what the user chose, not what the system did. */
export function storeTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // not kept, then
  }
}

/** What the canvas is painted with. */
export interface Palette {
  background: number;
  grid: number;
  ground: number;
  contact: number;
  normal: number;
  impulse: number;
  witness: number;
  highlight: number;
}

export const PALETTES: Record<Theme, Palette> = {
  dark: {
    background: 0x14181f,
    grid: 0x39424f,
    ground: 0x20262f,
    contact: 0xff5c6c,
    normal: 0x3ddc97,
    impulse: 0xffb454,
    witness: 0xf2f5f9,
    highlight: 0x4da3ff,
  },
  light: {
    background: 0xf4f6f9,
    grid: 0xc3ccd8,
    ground: 0xe6eaf0,
    contact: 0xd6244a,
    normal: 0x07805a,
    impulse: 0xd97706,
    witness: 0x111827,
    highlight: 0x1d6fe0,
  },
};
