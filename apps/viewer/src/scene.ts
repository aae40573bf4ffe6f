// The scene: bodies, ghosts, contacts, witness points and scaled copies of one frame, seen by a camera with z up. Drawn
// when something changed, and only then.

import {
  AmbientLight,
  AxesHelper,
  Box3,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PCFSoftShadowMap,
  PerspectiveCamera,
  Quaternion,
  Raycaster,
  Scene,
  Sphere,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

import { BodySet, GeometryStore, ghostLook, type ShapeMesh } from './bodies';
import { Grid } from './grid';
import { fail } from './json';
import { Markers } from './markers';
import { Motion } from './motion';
import { DEFAULT_SHOW, type Show } from './options';
import { frameAt, type Contact, type Frame, type Pair, type Recording, type Vec3 } from './recording';
import { FINE, planeOf } from './shapes';
import { PALETTES, type Theme } from './theme';

const Z = new Vector3(0, 0, 1);
/** How much larger than all that moves something fixed may be to be in the picture from the start. */
const MOST_FIXED = 2;

/** How much larger than the start all frames together may be to be in the picture at once; else the camera goes along. */
const MOST_TRAVEL = 2.5;
/** Instead of a body: all that moves. */
const ALL = -1;

/** Above this many shapes shadows cost more than they show. */
const MOST_SHADOWS = 80;

/** More bodies or shapes, with those of ghosts, would only stop the browser. */
const MOST_DRAWN = 20_000;

function checkNumber({ bodies, shapes, ghosts }: Recording): void {
  const sets = 1 + ghosts.length;
  for (const [place, count] of [['bodies', sets * bodies.length], ['shapes', sets * shapes.length]] as const)
    if (count > MOST_DRAWN) fail(place, `there are ${count} to draw, and the page draws ${MOST_DRAWN} at most`);
}

/** In the world. */
function boxOf(mesh: ShapeMesh): Box3 {
  mesh.updateWorldMatrix(true, false);
  mesh.geometry.computeBoundingBox();
  return mesh.geometry.boundingBox!.clone().applyMatrix4(mesh.matrixWorld);
}

function length(v: Vec3): number {
  return Math.hypot(...v);
}

export class SceneView {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(42, 1, 0.01, 1000);
  controls: OrbitControls;
  private readonly renderer: WebGLRenderer;
  private readonly sun = new DirectionalLight(0xffffff, 2.2);
  private readonly extras = new Group();
  private grid: Grid | null = null;

  private recording: Recording | null = null;
  private geometries: GeometryStore | null = null;
  private bodies: BodySet | null = null;
  private ghosts: BodySet[] = [];
  private copies: { pair: [number, number]; set: Group; material: MeshBasicMaterial }[] = [];
  private axes: AxesHelper[] = [];
  private readonly contacts = Markers.points(this.extras, 'contacts');
  private readonly normals = Markers.arrows(this.extras, 'normals');
  private readonly impulses = Markers.arrows(this.extras, 'impulses');
  private readonly witnesses = Markers.points(this.extras, 'witnesses');
  private readonly pairNormals = Markers.arrows(this.extras, 'pair normals');

  private show: Show = { ...DEFAULT_SHOW };
  private theme: Theme = 'dark';
  private selected = -1;
  /** From z to what is up. */
  private readonly turn = new Quaternion();
  /** Of the first frame, without planes. */
  private readonly extent = new Sphere(new Vector3(), 1);
  /** What the picture shows after a reset. */
  private readonly seen = new Sphere(new Vector3(), 1);
  private motion = new Motion(new Map());
  private planeSize = 0;
  /** The camera was moved by hand since the last reset. */
  private handled = false;
  /** What the camera goes along with: a body, or ALL; null: nothing. */
  private followed: number | null = null;
  /** Where that was when the camera went along last. */
  private readonly anchor = new Vector3();
  /** Where all that moves was in the first frame. */
  private readonly home = new Vector3();
  private frame: Frame | null = null;
  private dirty = true;
  framesDrawn = 0;

  constructor(private readonly container: HTMLElement) {
    this.renderer = new WebGLRenderer({ antialias: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    container.append(this.renderer.domElement);
    this.camera.up.set(0, 0, 1);
    this.controls = this.makeControls();
    this.scene.add(new HemisphereLight(0xffffff, 0x8090a0, 1.1), new AmbientLight(0xffffff, 0.35), this.sun, this.sun.target, this.extras);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
    this.loop();
  }

  /** They turn about the camera's own up, as it is now. */
  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.renderer.domElement);
    controls.enableDamping = false;
    controls.zoomToCursor = true;
    controls.addEventListener('change', () => this.invalidate());
    controls.addEventListener('start', () => (this.handled = true));
    return controls;
  }

  private setUp(up: Vec3): void {
    this.turn.setFromUnitVectors(Z, new Vector3(...up));
    if (this.camera.up.equals(new Vector3(...up))) return;
    this.camera.up.set(...up);
    this.controls.dispose();
    this.controls = this.makeControls();
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  invalidate(): void {
    this.dirty = true;
  }

  private loop = (): void => {
    requestAnimationFrame(this.loop);
    if (this.dirty) this.renderNow();
  };

  renderNow(): void {
    this.dirty = false;
    this.grid?.centre(this.controls.target);
    this.renderer.render(this.scene, this.camera);
    ++this.framesDrawn;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.container;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    this.renderNow();
  }

  // what is in it

  /** A recording that cannot be drawn throws, and what was there before stays. */
  setRecording(recording: Recording, poses: Float64Array): void {
    checkNumber(recording);
    // planes are as large as they need to be to look endless
    const planeSize = Math.max(10, 12 * this.measure(recording, poses));
    const geometries = new GeometryStore(planeSize, this.roundness(recording.shapes.length));
    const bodies = new BodySet(recording, geometries);
    this.clear();
    this.recording = recording;
    this.geometries = geometries;
    this.bodies = bodies;
    this.planeSize = planeSize;
    this.setUp(recording.up);
    this.bodies.place(poses);
    this.scene.add(this.bodies.root);
    this.findExtent();
    this.seen.copy(this.extent);
    this.motion = new Motion(this.movingBoxes());
    this.home.copy(this.motion.middle(poses));
    for (const group of this.bodies.groups) this.addAxes(group);
    for (let i = 0; i < recording.ghosts.length; ++i) {
      const ghost = new BodySet(recording, this.geometries, ghostLook(i));
      this.ghosts.push(ghost);
      this.scene.add(ghost.root);
    }
    this.makeGrid();
    this.setTheme(this.theme);
    this.setShow(this.show);
    this.reset();
  }

  /** Most of an axis is inside of its body: it is drawn over it. */
  private addAxes(group: Group): void {
    const axes = new AxesHelper(0.25 * this.extent.radius);
    const material = axes.material as Material;
    material.depthTest = false;
    material.transparent = true;
    axes.renderOrder = 9;
    group.add(axes);
    this.axes.push(axes);
  }

  /** Frames that were read are taken into account from the next `fit` on. */
  addFrames(frames: readonly Frame[]): void {
    for (const frame of frames) this.motion.add(frame);
  }

  /** Makes room for all frames that were read: the floor reaches under them; the picture shows them all, or goes along,
   * unless the user has chosen another one. */
  fit(): void {
    if (this.bodies === null || this.recording === null) return;
    const all = this.allFrames();
    const reach = all.center.length() + all.radius + 12 * this.extent.radius;
    if (reach > this.planeSize) this.growPlanes(1.5 * reach);
    if (!this.goesFar(all) && all.radius > 1.01 * this.seen.radius) {
      this.seen.copy(all);
      this.makeGrid();
    }
    if (!this.handled) this.reset();
  }

  private allFrames(): Sphere {
    const { travel } = this.motion;
    return travel.isEmpty() ? this.extent.clone() : travel.getBoundingSphere(new Sphere()).union(this.extent);
  }

  private goesFar(all: Sphere): boolean {
    return all.radius > MOST_TRAVEL * this.extent.radius;
  }

  private growPlanes(size: number): void {
    this.planeSize = size;
    this.geometries!.resizePlanes(size);
    this.bodies!.replacePlanes(this.geometries!);
  }

  /** Around each body that can move and is not a plane, about its origin. */
  private movingBoxes(): Map<number, Box3> {
    const boxes = new Map<number, Box3>();
    for (const mesh of this.bodies!.meshes) {
      const { body, plane } = mesh.userData;
      if (plane || !this.moves(mesh)) continue;
      const own = boxOf(mesh).translate(mesh.parent!.position.clone().negate());
      boxes.set(body, own.union(boxes.get(body) ?? own));
    }
    return boxes;
  }

  private moves(mesh: ShapeMesh): boolean {
    return (this.recording!.attachments[mesh.userData.body]?.link ?? 0) >= 0;
  }

  /** Points on circles: fewer where there are many shapes, and the fewer the slower the machine draws. */
  private roundness(numShapes: number): number {
    const gl = this.renderer.getContext();
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const name = info === null ? '' : String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL));
    const affordable = /swiftshader|llvmpipe|software|basic render/i.test(name) ? 30 : 400;
    const factor = Math.min(1, Math.sqrt(affordable / numShapes));
    return Math.max(16, 4 * Math.floor((FINE * factor) / 4));
  }

  private clear(): void {
    this.bodies?.dispose();
    for (const ghost of this.ghosts) ghost.dispose();
    for (const copy of this.copies) copy.set.removeFromParent();
    this.geometries?.dispose();
    this.ghosts = [];
    this.copies = [];
    this.axes = [];
    this.selected = -1;
    this.followed = null;
    this.frame = null;
  }

  /** How far the bodies are from each other, roughly. */
  private measure(recording: Recording, poses: Float64Array): number {
    const box = new Box3();
    for (let b = 0; b < recording.bodies.length; ++b)
      if (!Number.isNaN(poses[7 * b]!)) box.expandByPoint(new Vector3(poses[7 * b]!, poses[7 * b + 1]!, poses[7 * b + 2]!));
    return box.isEmpty() ? 1 : box.getSize(new Vector3()).length();
  }

  private findExtent(): void {
    // what can move, if anything can: floors and walls may be far larger than what happens on them
    const seen = this.bodies!.meshes.filter((mesh) => !mesh.userData.plane && mesh.parent!.visible);
    const sizeOf = (of: Box3): number => of.getSize(new Vector3()).length();
    const moving = seen.filter((mesh) => this.moves(mesh));
    const box = new Box3();
    for (const mesh of moving.length > 0 ? moving : seen) box.union(boxOf(mesh));
    // what stands still belongs to it where it is of the same kind of size
    const most = MOST_FIXED * sizeOf(box);
    for (const other of seen.filter((mesh) => !this.moves(mesh)).map(boxOf)) if (sizeOf(other) <= most) box.union(other);
    if (box.isEmpty()) box.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
    box.getBoundingSphere(this.extent);
    this.extent.radius = Math.max(this.extent.radius, 1e-6);
  }

  private setUpLight(center: Vector3): void {
    const { radius } = this.seen;
    this.sun.position.copy(center).addScaledVector(new Vector3(-0.75, -0.3, 1.1).applyQuaternion(this.turn), 3 * radius);
    this.sun.target.position.copy(center);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -2 * radius;
    camera.right = camera.top = 2 * radius;
    camera.near = 0.05 * radius;
    camera.far = 10 * radius;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.01 * radius;
  }

  /** On the first plane, or level through the origin. */
  private makeGrid(): void {
    this.grid?.dispose();
    const plane = this.bodies!.meshes.find((mesh) => mesh.userData.plane);
    const normal = Z.clone().applyQuaternion(this.turn);
    const foot = new Vector3();
    if (plane !== undefined) {
      plane.updateWorldMatrix(true, false);
      const own = planeOf(plane.userData.entry.shape, 'plane');
      foot.copy(plane.localToWorld(own.foot));
      normal.copy(own.normal).transformDirection(plane.matrixWorld);
    }
    this.grid = new Grid(this.seen.radius, foot, normal);
    this.grid.setColor(PALETTES[this.theme].grid);
    this.grid.lines.visible = this.show.grid;
    this.scene.add(this.grid.lines);
  }

  // what is seen of it

  setTheme(theme: Theme): void {
    this.theme = theme;
    const palette = PALETTES[theme];
    this.scene.background = new Color(palette.background);
    this.contacts.setColor(palette.contact);
    this.normals.setColor(palette.normal);
    this.pairNormals.setColor(palette.normal);
    this.impulses.setColor(palette.impulse);
    this.witnesses.setColor(palette.witness);
    this.grid?.setColor(palette.grid);
    for (const mesh of this.bodies?.meshes ?? []) if (mesh.userData.plane) mesh.material.color.setHex(palette.ground);
    this.bodies?.highlight(this.selected, palette.highlight);
    this.invalidate();
  }

  setShow(show: Show): void {
    this.show = { ...show };
    this.contacts.mesh.visible = show.contacts;
    this.normals.mesh.visible = show.normals;
    this.impulses.mesh.visible = show.impulses;
    this.witnesses.mesh.visible = this.pairNormals.mesh.visible = show.witnesses;
    for (const axes of this.axes) axes.visible = show.axes;
    if (this.grid !== null) this.grid.lines.visible = show.grid;
    for (const ghost of this.ghosts) {
      ghost.root.visible = show.ghosts;
      ghost.setDrawn(show.drawn);
    }
    for (const copy of this.copies) copy.set.visible = show.scaled;
    this.bodies?.setDrawn(show.drawn);
    this.bodies?.setTransparent(show.transparent);
    const shadows = show.shadows && (this.bodies?.meshes.length ?? 0) <= MOST_SHADOWS;
    this.sun.castShadow = shadows;
    this.renderer.shadowMap.enabled = shadows;
    for (const mesh of this.bodies?.meshes ?? []) mesh.material.needsUpdate = true;
    if (this.frame !== null) this.showPairs(this.frame.pairs);
    this.invalidate();
  }

  /** `poses`: others than the frame's, from sliders. */
  showFrame(frame: Frame, poses: Float64Array | null = null): void {
    if (this.bodies === null || this.recording === null) return;
    this.frame = frame;
    this.bodies.place(poses ?? frame.poses);
    this.goAlong();
    this.recording.ghosts.forEach((ghost, i) => this.ghosts[i]!.place(ghost.poses[frameAt(ghost.t, ghost.t.length, frame.t)]!));
    this.showContacts(poses === null ? frame.contacts : []);
    this.showPairs(poses === null ? frame.pairs : []);
    this.invalidate();
  }

  private showContacts(contacts: Contact[]): void {
    const size = this.extent.radius;
    for (const markers of [this.contacts, this.normals, this.impulses]) markers.clear();
    for (const contact of contacts) {
      this.contacts.point(contact.point, 0.012 * size);
      this.normals.arrow(contact.point, contact.normal, 0.18 * size, 0.18 * size);
      const strength = length(contact.impulse) / this.motion.largestImpulse;
      if (strength > 1e-3) this.impulses.arrow(contact.point, contact.impulse, 0.4 * size * strength, 0.2 * size);
    }
    for (const markers of [this.contacts, this.normals, this.impulses]) markers.commit();
  }

  private showPairs(pairs: Pair[]): void {
    const size = this.extent.radius;
    this.witnesses.clear();
    this.pairNormals.clear();
    for (const pair of pairs) {
      this.witnesses.point(pair.witnessA, 0.02 * size);
      this.witnesses.point(pair.witnessB, 0.02 * size);
      if (pair.point !== null) this.witnesses.point(pair.point, 0.028 * size);
      this.pairNormals.arrow(pair.point ?? pair.witnessA, pair.normal, 0.3 * size, 0.3 * size);
    }
    this.witnesses.commit();
    this.pairNormals.commit();
    for (const copy of this.copies) {
      copy.set.removeFromParent();
      copy.material.dispose();
    }
    this.copies = [];
    const scaled = this.show.scaled ? pairs.filter((pair) => pair.alpha !== null) : [];
    for (const pair of scaled) this.addCopies(pair);
    // copies of what overlaps are inside: to be seen through
    this.bodies!.setFaded(new Set(scaled.filter((pair) => pair.alpha! < 1).flatMap((pair) => pair.bodies)));
  }

  /** Both shapes scaled by alpha about their own origins: they touch. Half-spaces are not scaled. */
  private addCopies(pair: Pair): void {
    for (const body of pair.bodies) {
      const group = this.bodies!.groups[body]!;
      const set = new Group();
      set.name = 'scaled copy';
      const inside = pair.alpha! < 1;
      const material = new MeshBasicMaterial({ transparent: !inside, opacity: inside ? 1 : 0.22, depthWrite: inside });
      set.position.copy(group.position);
      set.quaternion.copy(group.quaternion);
      for (const mesh of this.bodies!.meshes) {
        if (mesh.userData.body !== body || mesh.userData.plane) continue;
        material.color.copy(mesh.material.color);
        const copy = new Mesh(mesh.geometry, material);
        copy.position.copy(mesh.position);
        copy.quaternion.copy(mesh.quaternion);
        copy.scale.setScalar(pair.alpha!);
        set.add(copy);
      }
      this.scene.add(set);
      this.copies.push({ pair: pair.bodies, set, material });
    }
  }

  select(body: number): void {
    this.selected = body;
    this.bodies?.highlight(body, PALETTES[this.theme].highlight);
    this.invalidate();
  }

  /** The body at a place of the canvas (pixels); -1: none. */
  pick(x: number, y: number): number {
    if (this.bodies === null) return -1;
    const { clientWidth, clientHeight } = this.container;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight), this.camera);
    const seen = this.bodies.meshes.filter((mesh) => mesh.visible && mesh.parent!.visible);
    const hit = ray.intersectObjects(seen, false)[0];
    return hit === undefined ? -1 : (hit.object.userData as { body: number }).body;
  }

  // the camera

  /** All of it, from the front, a little above. Where that would be too far away to see anything: what is there now. */
  reset(): void {
    this.handled = false;
    this.followed = this.goesFar(this.allFrames()) ? ALL : null;
    this.anchor.copy(this.home);
    this.setUpLight(this.seen.center);
    // with room around it, to see where it goes
    const radius = this.followed === ALL ? 2 * this.seen.radius : this.seen.radius;
    this.lookAt(this.seen.center, radius, new Vector3(0.75, -1, 0.55).applyQuaternion(this.turn));
    this.goAlong();
  }

  /** Looks at a body, and goes along with it until this is asked for again. */
  focus(body: number): void {
    const group = this.bodies?.groups[body];
    if (group === undefined) return;
    this.handled = true;
    if (this.followed === body) {
      this.followed = null;
      return;
    }
    const box = new Box3();
    for (const mesh of this.bodies!.meshes)
      if (mesh.userData.body === body && !mesh.userData.plane) box.expandByObject(mesh);
    if (box.isEmpty()) return;
    const sphere = box.getBoundingSphere(new Sphere());
    this.followed = body;
    this.anchor.copy(group.position);
    this.setUpLight(sphere.center);
    this.lookAt(sphere.center, 1.6 * sphere.radius, this.camera.position.clone().sub(this.controls.target));
  }

  /** Camera and light move as what is followed did. */
  private goAlong(): void {
    if (this.followed === null || this.frame === null) return;
    const { poses } = this.frame;
    const now = this.followed === ALL ? this.motion.middle(poses) : this.bodies!.groups[this.followed]!.position;
    const step = now.clone().sub(this.anchor);
    this.anchor.copy(now);
    for (const moved of [this.camera.position, this.controls.target, this.sun.position, this.sun.target.position]) moved.add(step);
    this.controls.update();
  }

  private lookAt(center: Vector3, radius: number, direction: Vector3): void {
    const narrow = Math.min(1, this.camera.aspect);
    const distance = (0.95 * radius) / (Math.tan((this.camera.fov * Math.PI) / 360) * narrow);
    this.camera.near = 1e-3 * distance;
    this.camera.far = 200 * distance + 30 * this.seen.radius;
    this.camera.updateProjectionMatrix();
    this.camera.position.copy(center).addScaledVector(direction.normalize(), distance);
    this.controls.target.copy(center);
    this.controls.update();
    this.invalidate();
  }

  /** The picture as it is. */
  screenshot(): Promise<Blob> {
    // in one go with drawing: the buffer does not stay
    this.renderNow();
    return new Promise((resolve, reject) => {
      this.canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)), 'image/png');
    });
  }

  // for tests: what is really there

  worldPose(body: number): number[] {
    const group = this.bodies!.groups[body]!;
    group.updateWorldMatrix(true, false);
    const p = new Vector3();
    const r = new Quaternion();
    group.matrixWorld.decompose(p, r, new Vector3());
    return [p.x, p.y, p.z, r.x, r.y, r.z, r.w];
  }

  isVisible(body: number): boolean {
    return this.bodies!.groups[body]!.visible;
  }

  /** How far the drawn triangles of a shape reach along a direction of its own frame. */
  reach(shape: number, direction: Vec3): number {
    const entry = this.recording!.shapes[shape]!;
    const mesh = this.bodies!.meshes.find((m) => m.userData.entry === entry)!;
    const positions = mesh.geometry.getAttribute('position');
    const d = new Vector3(...direction);
    const p = new Vector3();
    let most = -Infinity;
    for (let i = 0; i < positions.count; ++i) most = Math.max(most, p.fromBufferAttribute(positions, i).dot(d));
    return most;
  }

  counts(): Record<string, number> {
    const seen = (markers: Markers): number => (markers.mesh.visible ? markers.length : 0);
    return {
      contacts: seen(this.contacts),
      normals: seen(this.normals),
      impulses: seen(this.impulses),
      witnesses: seen(this.witnesses),
      copies: this.copies.length,
      ghosts: this.show.ghosts ? this.ghosts.length : 0,
      shapes: this.bodies?.meshes.filter((mesh) => mesh.visible).length ?? 0,
      axes: this.axes.filter((axes) => axes.visible).length,
    };
  }

  /** How long the arrow of a contact's impulse is, metres. */
  impulseLength(contact: number): number {
    const matrix = new Matrix4();
    this.impulses.mesh.getMatrixAt(contact, matrix);
    return new Vector3().setFromMatrixColumn(matrix, 1).length();
  }
}
