// A statement as a picture: the paper it speaks of, and a mark for what it says about it.

import { get } from "./api.js";
import { h } from "./dom.js";
import { drawStrips } from "./pictures.js";
import { words } from "./words.js";

const KIND = { required: "join", forbidden: "no-join", not_first: "not-first", not_last: "not-last", turned: "flipped" };
const MARKS = { join: ["=", "#1c6b43"], "no-join": ["✕", "#a82c29"], gap: ["↔", "#7a5600"], first: ["⊢", "#2b4d8f"], last: ["⊣", "#2b4d8f"], "not-first": ["←", "#7a5600"], "not-last": ["→", "#7a5600"], together: ["=", "#1c6b43"], apart: ["✕", "#a82c29"] };
const MOST = 8; // strips of a group that are drawn

const itemOf = (app, index, x, y = 0) => ({ index, x, y, width: app.info.shreds[index].width, flipped: app.state.flipped.includes(index) });

/** Where the strips lie, at which x the mark belongs, and the row where most is written. */
async function layOut(app, kind, shreds) {
  const info = app.info.shreds;
  if (["join", "no-join", "gap", "offset", "cannot-tell"].includes(kind) && shreds.length === 2 && shreds.every((one) => one < app.info.inked)) {
    const step = await get(`/api/joins/${shreds[0]}/${shreds[1]}`);
    return { items: [itemOf(app, shreds[0], 0), itemOf(app, shreds[1], step.x, step.y)], marks: [step.x], row: step.row };
  }
  if (["first", "not-first"].includes(kind)) return { items: [itemOf(app, shreds[0], 0)], marks: [-30] };
  if (["last", "not-last"].includes(kind)) return { items: [itemOf(app, shreds[0], 0)], marks: [info[shreds[0]].width + 30] };
  const items = [];
  const marks = [];
  let x = 0;
  for (const index of shreds.slice(0, MOST)) {
    if (items.length) marks.push(x - 30);
    items.push(itemOf(app, index, x));
    x += info[index].width + 60;
  }
  const [first, second] = shreds;
  const isInked = second !== undefined && Math.max(first, second) < app.info.inked;
  return { items, marks, row: isInked ? (await get(`/api/joins/${first}/${second}`)).row : undefined };
}

/** @param {[string, number[], string?]} statement a kind of statement or of constraint, and its shreds by index */
export function pictureOf(app, [name, shreds]) {
  const kind = KIND[name] ?? name;
  const canvas = h("canvas", { class: "stated", role: "img", "aria-label": sentenceOf(app, [name, shreds]) });
  layOut(app, kind, shreds).then(({ items, marks, row }) => {
    const left = Math.min(...items.map((one) => one.x), ...marks) - 40;
    const right = Math.max(...items.map((one) => one.x + one.width), ...marks) + 40;
    const height = Math.max(...items.map((one) => one.y + app.info.shreds[one.index].height));
    const draw = () => {
      if (!canvas.isConnected) return;
      const scale = Math.min(canvas.clientWidth / (right - left), 0.5);
      const top = Math.max(0, (row ?? height / 2) - canvas.clientHeight / scale / 2);
      drawStrips(canvas, items, { scale, x: left - (canvas.clientWidth / scale - (right - left)) / 2, y: top }, () => requestAnimationFrame(draw), { over: (context, zoom) => marks.forEach((x) => mark(context, (x - left + (canvas.clientWidth / scale - (right - left)) / 2) * zoom, MARKS[kind])) });
    };
    requestAnimationFrame(draw);
  }).catch(() => {});
  return canvas;
}

function mark(context, x, found) {
  if (!found) return;
  const [sign, color] = found;
  const size = Math.max(18, context.canvas.height / 7);
  const y = context.canvas.height - size; // below what is written
  context.fillStyle = "rgba(255,255,255,.9)";
  context.beginPath();
  context.arc(x, y, size * 0.75, 0, 7);
  context.fill();
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 2;
  context.stroke();
  context.font = `bold ${size}px sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(sign, x, y);
}

export function sentenceOf(app, [name, shreds]) {
  const isGroup = name === "together" || name === "apart";
  const ids = shreds.slice(0, 4).map((index) => app.info.shreds[index].id).join(isGroup ? ", " : " → ");
  return `${words.said[KIND[name] ?? name] ?? name}: ${ids}${shreds.length > 4 ? " …" : ""}`;
}

/** A card: the picture, the sentence, who said it, and what can be done about it. */
export function cardOf(app, statement, who, ...buttons) {
  return h("li", { class: "stated-card" }, pictureOf(app, statement), h("b", { dir: "auto" }, sentenceOf(app, statement)), h("span", { class: "facts", dir: "auto" }, who), h("span", { class: "row" }, buttons));
}
