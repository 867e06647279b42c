// Strips on a canvas: upright, at their places, the darkest pixel wins.

import { getPicture } from "./api.js";

const strips = new Map(); // "index/level" -> {bitmap, indent}
const waiting = new Map(); // key -> Map of canvas -> how to draw it
const scheduled = new WeakSet();
const atlases = new Map();
const MOST = 700;
let mark = "";

export function setCase(fingerprint) {
  mark = fingerprint;
}

/** Draw a canvas again in the next frame: once, however many pictures have come for it. */
function schedule(canvas, again) {
  if (scheduled.has(canvas)) return;
  scheduled.add(canvas);
  requestAnimationFrame(() => {
    scheduled.delete(canvas);
    if (canvas.isConnected) again();
  });
}

function load(store, key, path, canvas, again) {
  if (waiting.has(key)) {
    waiting.get(key).set(canvas, again);
    return;
  }
  waiting.set(key, new Map([[canvas, again]]));
  getPicture(`${path}?c=${mark}`)
    .then((picture) => {
      store.set(key, picture);
      while (store.size > MOST) store.delete(store.keys().next().value);
    })
    .catch(() => new Promise((resolve) => setTimeout(resolve, 2000))) // or drawing would ask again at once
    .finally(() => {
      const all = waiting.get(key) ?? new Map();
      waiting.delete(key);
      for (const [canvas_, again_] of all) schedule(canvas_, again_);
    });
}

/** The finest strip at hand, and a request for the right one if it is not there yet. */
function strip(index, level, canvas, again) {
  const key = `${index}/${level}`;
  const found = strips.get(key);
  if (found) {
    strips.delete(key);
    strips.set(key, found);
    return { ...found, level };
  }
  load(strips, key, `/api/pictures/${index}/${level}`, canvas, again);
  for (const other of [3, 2, 1, 0]) {
    const coarse = strips.get(`${index}/${other}`);
    if (coarse) return { ...coarse, level: other };
  }
  return null;
}

export const levelFor = (scale) => Math.max(0, Math.min(3, Math.floor(Math.log2(1 / Math.max(scale, 1e-6)))));

/** @param items [{index, x, y, flipped}] in px of the paper; view {x, y, scale}: what lies at the canvas' corner. */
export function drawStrips(canvas, items, view, again, options = {}) {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio) || canvas.width;
  const height = Math.round(canvas.clientHeight * ratio) || canvas.height;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "source-over";
  context.fillStyle = options.ground ?? "#fff";
  context.fillRect(0, 0, width, height);
  const scale = view.scale * ratio;
  const level = levelFor(scale);
  context.imageSmoothingEnabled = scale < 1;
  if (!options.ground) context.globalCompositeOperation = "darken"; // on white, the darkest pixel wins
  for (const item of items) {
    const left = (item.x - view.x) * scale;
    if (left > width || left + item.width * scale < -40 * scale) continue;
    const found = strip(item.index, level, canvas, again);
    if (!found) continue;
    const zoom = scale * 2 ** found.level;
    const w = found.bitmap.width * zoom;
    const t = found.bitmap.height * zoom;
    // turned, the picture's right-hand indent comes first
    const own = found.bitmap.width * 2 ** found.level;
    const x = left - (item.flipped ? Math.max(0, own - found.indent - item.width) : found.indent) * scale;
    const y = (item.y - view.y) * scale;
    if (item.dim) context.globalAlpha = 0.35;
    if (item.flipped) {
      context.save();
      context.translate(x + w / 2, y + t / 2);
      context.rotate(Math.PI);
      context.drawImage(found.bitmap, -w / 2, -t / 2, w, t);
      context.restore();
    } else context.drawImage(found.bitmap, x, y, w, t);
    context.globalAlpha = 1;
  }
  context.globalCompositeOperation = "source-over";
  options.over?.(context, scale);
}

/** A page from thumbnails: a new order costs no request. */
export function drawThumb(canvas, info, page, again, flipped = []) {
  const [width, height] = sizeOf(info, page);
  const scale = Math.min(1, 200 / (width / 8), 190 / (height / 8));
  canvas.width = Math.max(8, Math.round((width / 8) * scale));
  canvas.height = Math.max(8, Math.round((height / 8) * scale));
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "darken";
  page.shreds.forEach((index, k) => {
    const number = Math.floor(index / info.perAtlas);
    const atlas = atlases.get(`atlas ${number}`);
    if (!atlas) {
      load(atlases, `atlas ${number}`, `/api/atlas/${number}`, canvas, again);
      return;
    }
    const { cell } = info.shreds[index];
    const [x, y, w, t] = [(page.x[k] / 8) * scale, (page.y[k] / 8) * scale, cell.width * scale, cell.height * scale];
    context.save();
    context.translate(x + w / 2, y + t / 2);
    if (flipped.includes(index)) context.rotate(Math.PI);
    context.drawImage(atlas.bitmap, cell.x, 0, cell.width, cell.height, -w / 2, -t / 2, w, t);
    context.restore();
  });
}

export function sizeOf(info, page) {
  const right = [...page.shreds.map((index, k) => page.x[k] + info.shreds[index].width), ...page.blanks.map(([index, x]) => x + info.shreds[index].width)];
  const bottom = page.shreds.map((index, k) => page.y[k] + info.shreds[index].height);
  return [Math.max(...right), Math.max(...bottom)];
}

export function itemsOf(info, state, page) {
  const flipped = new Set(state.flipped);
  const inked = page.shreds.map((index, k) => ({ index, x: page.x[k], y: page.y[k], width: info.shreds[index].width, flipped: flipped.has(index) }));
  return [...inked, ...page.blanks.map(([index, x, y]) => ({ index, x, y, width: info.shreds[index].width, flipped: false }))];
}

/** The shreds around a join: some of the left chain, some of the right, as they lie on their pages. */
export function around(app, left, right, step) {
  const items = [];
  const take = (index, from, to, dx, dy, dim) => {
    const sheet = app.state.pages.find((one) => one.shreds.includes(index));
    const all = itemsOf(app.info, app.state, sheet);
    const at = sheet.shreds.indexOf(index);
    for (const item of all.slice(Math.max(0, at + from), Math.min(at + to + 1, sheet.shreds.length))) items.push({ ...item, x: item.x - all[at].x + dx, y: item.y - all[at].y + dy, dim });
  };
  if (left !== null) take(left, -3, 0, 0, 0);
  if (right !== null) take(right, 0, 3, step.x, step.y);
  return items;
}

/** What follows a page after a gap: its parts and where they begin, in px, and the gaps between them. */
export function partsOf(info, state, page) {
  const parts = [];
  const seen = new Set([page]);
  let x = sizeOf(info, page)[0];
  for (let at = page; at.gap && !seen.has(state.pages[at.gap.page]); at = state.pages[at.gap.page]) {
    const next = state.pages[at.gap.page];
    seen.add(next);
    const wide = (at.gap.mm * info.dpi) / 25.4;
    parts.push({ page: next, number: at.gap.page, x: x + wide, wide, mm: at.gap.mm });
    x += wide + sizeOf(info, next)[0];
  }
  return { parts, width: x };
}
