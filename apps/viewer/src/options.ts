// What can be switched, its name, its key: the one list that the panel, the keyboard and the help are made of.

import type { Drawn } from './bodies';

export interface Show {
  contacts: boolean;
  normals: boolean;
  impulses: boolean;
  axes: boolean;
  transparent: boolean;
  ghosts: boolean;
  witnesses: boolean;
  scaled: boolean;
  grid: boolean;
  shadows: boolean;
  drawn: Drawn;
}

export const DEFAULT_SHOW: Show = {
  contacts: true,
  normals: false,
  impulses: true,
  axes: false,
  transparent: false,
  ghosts: true,
  witnesses: true,
  scaled: true,
  grid: true,
  shadows: true,
  drawn: 'visual',
};

export type Toggle = Exclude<keyof Show, 'drawn'>;

export const TOGGLES: { name: Toggle; label: string; key: string }[] = [
  { name: 'contacts', label: 'contacts', key: 'c' },
  { name: 'normals', label: 'normals', key: 'n' },
  { name: 'impulses', label: 'impulses', key: 'i' },
  { name: 'axes', label: 'body frames', key: 'a' },
  { name: 'transparent', label: 'transparent', key: 't' },
  { name: 'ghosts', label: 'ghosts', key: 'g' },
  { name: 'witnesses', label: 'witnesses', key: 'w' },
  { name: 'scaled', label: 'α copies', key: 's' },
  { name: 'grid', label: 'grid', key: 'x' },
  { name: 'shadows', label: 'shadows', key: 'h' },
];

export const KEYS: [string, string][] = [
  ['space', 'play, pause'],
  ['← →', 'one frame back, on (with shift: ten)'],
  ['home end', 'first, last frame'],
  ['− +', 'slower, faster'],
  ['l', 'loop'],
  ['r', 'reset the view'],
  ['f', 'look at the selected body and go along with it; again: stay'],
  ['esc', 'select nothing, close'],
  ['v', 'visual, collision or both kinds of shapes'],
  ...TOGGLES.map(({ key, label }): [string, string] => [key, label]),
  ['p', 'plots'],
  ['b', 'side panel'],
  ['d', 'dark, light'],
  ['k', 'save a picture'],
  ['o', 'open a recording'],
  ['?', 'this help'],
];
