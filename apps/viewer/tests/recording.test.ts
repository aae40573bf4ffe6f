import { describe, expect, it } from 'vitest';

import { frameAt, RecordingReader, type Recording } from '../src/recording';

const HEADER = `{"format": "tangere-recording", "version": 1, "name": "two", "time_step": 0.1,
"made_by": {"program": "tangere x", "seed": 7, "options": {"steps": "3"}},
"bodies": ["a", "b"],
"meshes": [
 {"vertices": [0,0,0,1,0,0,0,1,0,0,0,1], "triangles": [0,2,1,0,1,3,0,3,2,1,2,3]}],
"shapes": [
 {"body": 0, "name": "s", "shape": {"type": "sphere", "radius": 0.5}, "color": [1, 0, 0, 1]},
 {"body": 1, "role": "collision", "shape": {"type": "polytope", "vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}, "mesh": 0, "position": [0, 0, 1]}],
"links": [{"kind": "revolute", "parent": -1, "first_q": 0}],
"coordinates": [{"name": "hinge", "q": 0}],
"channels": [{"name": "energy", "unit": "J"}, {"name": "count"}],
"ghosts": [
 {"name": "guess", "t": [0], "poses": [[[0,0,0,0,0,0,1], null]]}],
"frames": [
`;
const FRAMES = [0, 0.1, 0.2].map(
  (t, i) =>
    `{"t": ${t}, "q": [${i}], "poses": [[${i}, 2, 3, 0, 0, 0, 1], null], "contacts": [{"bodies": [0, 1], "type": "vertex-face", "point": [0,0,0], "normal": [0,0,1], "impulse": [0,0,${i}]}], "pairs": [{"bodies": [0, 1], "alpha": 1.5, "point": [0,0,1], "witness_a": [0,0,0], "witness_b": [0,0,2], "normal": [0,0,1]}], "values": [${i / 3}, null]}`,
);
const TEXT = `${HEADER}${FRAMES.join(',\n')}\n],\n"complete": true}\n`;

function read(text: string): Recording {
  const reader = new RecordingReader(text);
  while (reader.readSome(0));
  return reader.recording;
}

describe('a recording', () => {
  it('is read to the last number', () => {
    const recording = read(TEXT);
    expect(recording.name).toBe('two');
    expect(recording.complete).toBe(true);
    expect(recording.madeBy).toEqual({ program: 'tangere x', command: '', seed: '7', options: [['steps', '3']] });
    expect(recording.frames.map((frame) => frame.t)).toEqual([0, 0.1, 0.2]);
    expect([...recording.frames[2]!.poses.slice(0, 7)]).toEqual([2, 2, 3, 0, 0, 0, 1]);
    expect(recording.frames[1]!.poses[7]).toBeNaN();
    expect(recording.frames[1]!.values).toEqual([1 / 3, NaN]);
    expect(recording.frames[1]!.contacts[0]).toMatchObject({ bodies: [0, 1], type: 'vertex-face', impulse: [0, 0, 1] });
    expect(recording.frames[1]!.pairs[0]).toMatchObject({ alpha: 1.5, witnessB: [0, 0, 2] });
    expect(recording.shapes[1]!.mesh!.triangles).toHaveLength(12);
    expect(recording.ghosts[0]!.poses).toHaveLength(1);
  });

  it('may be formatted in any way', () => {
    expect(read(JSON.stringify(JSON.parse(TEXT), null, 2)).frames).toEqual(read(TEXT).frames);
  });

  it('gives its header and first frame before the others', () => {
    const reader = new RecordingReader(TEXT);
    expect(reader.recording.bodies).toEqual(['a', 'b']);
    expect(reader.recording.frames).toHaveLength(0);
    expect(reader.readSome(0)).toBe(true);
    expect(reader.recording.frames).toHaveLength(1);
    expect(reader.progress).toBeGreaterThan(0);
  });

  it('that was cut off anywhere in its frames gives those that are whole', () => {
    let most = 0;
    for (let length = HEADER.length; length < TEXT.length - 2; ++length) {
      const recording = read(TEXT.slice(0, length));
      expect(recording.frames.length).toBeGreaterThanOrEqual(most);
      expect(recording.complete).toBe(false);
      most = recording.frames.length;
    }
    expect(most).toBe(3);
  });

  it.each([
    ['not JSON at all', 'not JSON', /the text: is not JSON/],
    ['nothing', '', /is not JSON/],
    ['another format', '{"format": "tangere-scene"}', /format: is not a recording/],
    ['an array', '[]', /must be an object/],
    ['a later version', TEXT.replace('"version": 1', '"version": 2'), /version: must be 1, got 2/],
    ['a body that does not exist', TEXT.replace('"body": 1', '"body": 2'), /shapes\[1\]\.body: must be a whole number from 0 to 1, got 2/],
    ['a mesh that does not exist', TEXT.replace('"mesh": 0', '"mesh": 1'), /shapes\[1\]\.mesh/],
    ['a corner that does not exist', TEXT.replace('"triangles": [0', '"triangles": [4'), /meshes\[0\]\.triangles\[0\]/],
    ['a pose too short', TEXT.replace('[1, 2, 3, 0, 0, 0, 1]', '[1, 2, 3]'), /frames\[1\]\.poses\[0\]: must be 7 numbers, got 3/],
    ['a quaternion too long', TEXT.replace('[1, 2, 3, 0, 0, 0, 1]', '[1, 2, 3, 0, 0, 1, 1]'), /frames\[1\]\.poses\[0\]: the quaternion/],
    ['a body without a pose', TEXT.replace('[[1, 2, 3, 0, 0, 0, 1], null]', '[null]'), /frames\[1\]\.poses: must have one entry a body \(2\), got 1/],
    ['time that stands still', TEXT.replace('"t": 0.1', '"t": 0'), /frames\[1\]\.t: must be later/],
    ['a text where a number belongs', TEXT.replace('"t": 0.1', '"t": "x"'), /frames\[1\]\.t: must be a number, got a string/],
    ['too few values', TEXT.replace(`"values": [${1 / 3}, null]`, '"values": []'), /frames\[1\]\.values: must have one value a channel \(2\), got 0/],
    ['a broken frame in the middle', TEXT.replace('{"t": 0.1,', '{"t": 0.1'), /frames\[1\]: is not JSON/],
    ['a header that was cut off', HEADER.slice(0, 200), /header: the file was cut off before its first frame/],
    ['a body far away', TEXT.replace('[1, 2, 3, 0, 0, 0, 1]', '[1, 1e20, 3, 0, 0, 0, 1]'), /frames\[1\]\.poses\[0\]: must be within ±1e\+9, got 100000000000000000000/],
    ['a placement far away', TEXT.replace('"position": [0, 0, 1]', '"position": [0, 0, -1e300]'), /shapes\[1\]\.position\[2\]: must be within/],
    ['a mesh too large', TEXT.replace('"vertices": [0', '"vertices": [1e39'), /meshes\[0\]\.vertices\[0\]: must be within/],
    ['a contact far away', TEXT.replace('"point": [0,0,0]', '"point": [0,2e9,0]'), /frames\[0\]\.contacts\[0\]\.point\[1\]: must be within/],
    ['a witness far away', TEXT.replace('"witness_a": [0,0,0]', '"witness_a": [0,0,1e30]'), /frames\[0\]\.pairs\[0\]\.witness_a\[2\]: must be within/],
    ['a time too late', TEXT.replace('"t": 0.2', '"t": 1e30'), /frames\[2\]\.t: must be within/],
    ['a link of a huge q', TEXT.replace('"first_q": 0', '"first_q": 900000000'), /links\[0\]\.first_q: must be a whole number from 0 to 6/],
    ['a slider without links', TEXT.replace(/"links".*\n/, ''), /coordinates\[0\]\.q: there are no links/],
    ['half a seed', TEXT.replace('"seed": 7', '"seed": 1.5'), /made_by\.seed: must be a whole number/],
    ['an option that is a list', TEXT.replace('"steps": "3"', '"steps": []'), /made_by\.options\.steps: must be a string, got an array/],
    ['a seed of 65 bits', TEXT.replace('"seed": 7', '"seed": "18446744073709551616"'), /made_by\.seed: must be a whole number from 0 to 18446744073709551615/],
    ['a seed without digits', TEXT.replace('"seed": 7', '"seed": ""'), /made_by\.seed/],
    ['a negative size', TEXT.replace('"radius": 0.5', '"radius": -0.5'), /shapes\[0\]\.shape\.radius: must be above 0/],
    ['no shape behind a mesh', TEXT.replace('"type": "polytope"', '"type": "teapot"'), /shapes\[1\]\.shape\.type: unknown shape type/],
    ['a colour too bright', TEXT.replace('[1, 0, 0, 1]', '[2, 0, 0, 1]'), /shapes\[0\]\.color: must be four numbers from 0 to 1/],
    ['a colour too dark', TEXT.replace('[1, 0, 0, 1]', '[1, -0.1, 0, 1]'), /shapes\[0\]\.color/],
    ['q too short', TEXT.replace('"kind": "revolute"', '"kind": "free"'), /frames\[0\]\.q: must have 7 numbers, got 1/],
    ['q too short for a slider', TEXT.replace('"name": "hinge", "q": 0', '"name": "hinge", "q": 3'), /frames\[0\]\.q: must have 4 numbers, got 1/],
    ['a source that is not there', TEXT.replace('"q": 0}', '"q": 0, "source": 1, "multiplier": 1, "offset": 0}'), /coordinates\[0\]\.source/],
    ['a source without a multiplier', TEXT.replace('"q": 0}', '"q": 0, "source": 0, "offset": 0}'), /coordinates\[0\]\.multiplier: must be a number, got nothing/],
    ['an end that is a number', TEXT.replace('"complete": true', '"complete": 1'), /complete: must be true or false, got a number/],
    ['an end that is nothing, formatted', JSON.stringify({ ...JSON.parse(TEXT), complete: null }), /complete: must be true or false, got null/],
    ['no frames', `${HEADER}],\n"complete": true}\n`, /frames: there are none/],
    ['no frames, formatted', JSON.stringify({ ...JSON.parse(TEXT), frames: [] }), /frames: there are none/],
    ['frames missing', JSON.stringify({ ...JSON.parse(TEXT), frames: undefined }), /frames: must be an array, got nothing/],
    ['a negative scaling', TEXT.replace('"alpha": 1.5', '"alpha": -1'), /frames\[0\]\.pairs\[0\]\.alpha/],
  ])('with %s says where it is wrong', (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('may begin with a byte order mark', () => {
    expect(read(`\uFEFF${TEXT}`).frames).toHaveLength(3);
    expect(read(`\uFEFF${JSON.stringify(JSON.parse(TEXT))}`).frames).toHaveLength(3);
  });

  it('may have frames without q, or more of it than the tree needs', () => {
    const short = read(TEXT.replace('"q": [0]', '"q": []').replace('"q": [1]', '"q": [1, 2, 3]'));
    expect(short.frames.map(({ q }) => q)).toEqual([null, [1, 2, 3], [2]]);
  });

  it('that has just begun has no frames yet', () => {
    expect(read(HEADER)).toMatchObject({ frames: [], complete: false });
  });

  it('shows seeds as they are, however large', () => {
    const seed = (value: string): string => read(TEXT.replace('"seed": 7', `"seed": ${value}`)).madeBy.seed;
    expect(seed('"18446744073709551615"')).toBe('18446744073709551615');
    expect(seed('12')).toBe('12');
    // a number beyond 2^53 is not known exactly here
    expect(seed('18446744073709551615')).toMatch(/^about /);
    expect(read(TEXT.replace('"steps": "3"', '"steps": 3')).madeBy.options).toEqual([['steps', '3']]);
  });

  it('keeps no surprises from hostile names', () => {
    const recording = read(TEXT.replace('"a", "b"', '"__proto__", "<img src=x onerror=alert(1)>"'));
    expect(recording.bodies[1]).toBe('<img src=x onerror=alert(1)>');
  });
});

describe('frameAt', () => {
  it('finds the last frame that is not later', () => {
    const times = [0, 1, 2, 3];
    expect([-1, 0, 0.5, 1, 2.999, 3, 9].map((t) => frameAt(times, 4, t))).toEqual([0, 0, 0, 1, 2, 3, 3]);
    expect(frameAt([], 0, 1)).toBe(0);
  });
});
