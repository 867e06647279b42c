// One page: the paper in the middle, its joins above it, the selected shred's facts and candidates beside it.

import { get } from "./api.js";
import { button, fill, h } from "./dom.js";
import { ask } from "./overview.js";
import { around, drawStrips, itemsOf, partsOf, sizeOf } from "./pictures.js";
import { tray } from "./trays.js";
import { count, percent, words } from "./words.js";

let zoom = null; // null: fit
let signs = true;
let solo = false;
let lifted = null; // a shred that is being moved
let drag = null;
let beside = null; // {kind: "candidates" | "why", pair, side, data}
let view = { x: 0, y: 0, scale: 1 };

const sheetOf = (app) => app.state.pages[app.pageNumber];
const place = (app) => Math.max(0, sheetOf(app).shreds.indexOf(app.shred));
const selected = (app) => sheetOf(app).shreds[place(app)];
const following = (app) => sheetOf(app).shreds[place(app) + 1];
const idOf = (app, index) => app.info.shreds[index].id;

function select(app, index) {
  app.shred = index;
  beside = null;
  app.refresh();
  document.getElementById(`shred-${index}`)?.focus({ preventScroll: false });
}

function step(app, by) {
  const { shreds } = sheetOf(app);
  select(app, shreds[Math.max(0, Math.min(shreds.length - 1, place(app) + by))]);
}

function turn(app, by) {
  const n = app.state.pages.length;
  app.pageNumber = (app.pageNumber + by + n) % n;
  app.shred = null;
  zoom = null;
  beside = null;
  app.refresh();
}

function needsJoin(app, act) {
  if (following(app) === undefined) return app.tell("This is the last shred of the page: there is no join to its right.");
  return act(selected(app), following(app));
}

/** Put a shred after another one: what stood around both stays joined where it can. */
function put(app, moved, after) {
  if (moved === after) return;
  const pages = app.state.pages;
  const target = pages.find((one) => one.shreds.includes(after)).shreds;
  const next = target[target.indexOf(after) + 1];
  const statements = [["join", [after, moved]]];
  if (next !== undefined && next !== moved) statements.push(["join", [moved, next]]);
  lifted = null;
  app.shred = moved;
  app.send("move", statements, { told: `${idOf(app, moved)} is now to the right of ${idOf(app, after)}.` });
}

function putFirst(app, moved, before) {
  lifted = null;
  app.shred = moved;
  app.send("move", [["first", [moved]], ["join", [moved, before]]], { told: `${idOf(app, moved)} now begins the page.` });
}

function shift(app, by) {
  return needsJoin(app, (left, right) => {
    const join = sheetOf(app).joins[place(app)];
    const sheet = sheetOf(app);
    const now = sheet.y[place(app) + 1] - sheet.y[place(app)];
    return app.send("offset", [["offset", [left, right], String((Number.isFinite(now) ? now : join.offset) + by)]]);
  });
}

async function show(app, kind, side = "right") {
  const index = selected(app);
  if (kind === "candidates") {
    beside = { kind, side, data: (await get(`/api/edges/${index}/${side}`)).candidates };
    price(app, beside);
  } else {
    const right = following(app);
    if (right === undefined) return app.tell("There is no join to the right of this shred.");
    const others = (await get(`/api/edges/${index}/right`)).candidates.filter((one) => one.partner !== right).slice(0, 3);
    beside = { kind, side: "right", pair: [index, right], data: await get(`/api/joins/${index}/${right}/why`), others };
    price(app, beside);
  }
  app.refresh();
  document.querySelector(".beside button")?.focus({ preventScroll: true });
  return undefined;
}

/** What taking each candidate would cost: solved one by one, shown as it comes. */
async function price(app, shown) {
  const own = selected(app);
  for (const one of shown.others ?? shown.data) {
    const pair = shown.side === "right" ? [own, one.partner] : [one.partner, own];
    one.price = await get(`/api/joins/${pair[0]}/${pair[1]}/price`).catch(() => null);
    if (beside !== shown) return;
    const place_ = document.getElementById(`price-${one.partner}`);
    if (place_) place_.textContent = tellPrice(one.price);
  }
}

function tellPrice(found) {
  if (found === undefined) return "…";
  if (!found?.isKnown) return "cost not known: the order is not proven";
  if (found.rise === null) return "contradicts a statement";
  return found.isLeast ? `costs more than ${found.rise} nats` : found.rise === 0 ? "costs nothing" : `costs ${found.rise} nats`;
}

/** Marked shreds and the selected one: at least two of them are needed. */
function group(app, kind, told) {
  const all = [...new Set([...app.marked, selected(app)])];
  if (all.length < 2) return app.tell("Mark the other shreds first (K), on any page.");
  app.marked.clear();
  return app.send(kind, [[kind, all]], { told: `${count(all.length, "shred")} ${told}` });
}

function toggleMark(app, index) {
  if (!app.marked.delete(index)) app.marked.add(index);
  app.tell(app.marked.size ? `${count(app.marked.size, "shred")} marked.` : "No shred is marked.");
  app.refresh();
}

/** Which of the blank shreds? The only one that is left needs no question. */
function chooseBlank(app) {
  const free = app.info.shreds.map((_, index) => index).slice(app.info.inked).filter((index) => app.state.blanks[String(index)] === undefined);
  const take = (index) => app.send("blank", [["blank", [index, selected(app)]]], { told: `${idOf(app, index)} was placed to the right.` });
  if (!free.length) return app.tell("No blank shred is left.");
  if (free.length === 1) return take(free[0]);
  const box = app.dialog("Which blank shred goes here?", tray(app, free, (index) => button("This one", "", () => { box.close(); take(index); }, { class: "main" })));
  box.querySelector("button.main").focus();
  return undefined;
}

function pinned(app) {
  return sheetOf(app).joins[place(app)]?.by;
}

const ACTIONS = {
  left: (app) => step(app, -1),
  right: (app) => step(app, 1),
  pin: (app) => needsJoin(app, (a, b) => app.send("pin", [["join", [a, b]]], { told: "Pinned." })),
  unpin: (app) => needsJoin(app, (a, b) => app.send("unpin", [], { unsay: [["join", [a, b]]], told: "Unpinned." })),
  forbid: (app) => needsJoin(app, (a, b) => app.send("forbid", [["no-join", [a, b]]], { told: "Noted: these two do not belong together." })),
  end: (app) => app.send("end", [["last", [selected(app)]]], { told: "The page ends here." }),
  begin: (app) => app.send("begin", [["first", [selected(app)]]], { told: "The page begins here." }),
  move: (app) => {
    if (lifted === null) {
      lifted = selected(app);
      app.tell(`${idOf(app, lifted)} is picked up. Select the shred it belongs after, on any page, and press M again.`);
      app.refresh();
    } else put(app, lifted, selected(app));
  },
  candidates: (app) => show(app, "candidates"),
  "candidates-left": (app) => show(app, "candidates", "left"),
  mark: (app) => toggleMark(app, selected(app)),
  together: (app) => group(app, "together", "lie on one page."),
  apart: (app) => group(app, "apart", "lie on different pages."),
  "on-left": (app) => app.send("goes-on", [["not-first", [sheetOf(app).shreds[0]]]], { told: "Noted: the page continues on the left." }),
  "on-right": (app) => app.send("goes-on", [["not-last", [sheetOf(app).shreds.at(-1)]]], { told: "Noted: the page continues on the right." }),
  title: (app) => ask(app, "Title of this page", sheetOf(app).title, (text) => app.send("title", [["title", [sheetOf(app).shreds[0]], text]])),
  why: (app) => show(app, "why"),
  flip: (app) => app.state.flipped.includes(selected(app)) ? app.send("turn-back", [], { unsay: [["flipped", [selected(app)]]] }) : app.send("flip", [["flipped", [selected(app)]]], { told: "Turned upside down." }),
  aside: (app) => {
    const [gone, { shreds }] = [selected(app), sheetOf(app)];
    app.shred = following(app) ?? shreds[place(app) - 1] ?? gone; // the page stays open
    return app.send("aside", [["aside", [gone]]], { told: `${idOf(app, gone)} was set aside. It is in the trays.` });
  },
  gap: (app) => needsJoin(app, (a, b) => ask(app, "How many millimeters are missing here?", "7", (text) => /^\d+$/.test(text) && app.send("gap", [["gap", [a, b], text]], { told: "Noted: paper is missing here." }))),
  blank: (app) => chooseBlank(app),
  "cannot-tell": (app) => needsJoin(app, (a, b) => app.send("cannot-tell", [["cannot-tell", [a, b]]], { told: "Noted: cannot tell." })),
  note: (app) => ask(app, "Note on this shred", "", (text) => text && app.send("note", [["note", [selected(app)], text]], { told: "Noted." })),
  done: (app) => app.send("done", [["done", sheetOf(app).shreds]], { told: "Done: all joins and both ends of this page are pinned." }),
  "up-1": (app) => shift(app, -1),
  "down-1": (app) => shift(app, 1),
  "up-10": (app) => shift(app, -10),
  "down-10": (app) => shift(app, 10),
  previous: (app) => turn(app, -1),
  next: (app) => turn(app, 1),
  larger: (app) => { zoom = Math.min(2, (zoom ?? view.scale) * 1.4); app.refresh(); },
  smaller: (app) => { zoom = Math.max(0.03, (zoom ?? view.scale) / 1.4); app.refresh(); },
  fit: (app) => { zoom = null; app.refresh(); },
  real: (app) => { zoom = 1; app.refresh(); },
  signs: (app) => { signs = !signs; app.refresh(); },
  solo: (app) => { solo = !solo; app.refresh(); },
};

const GROUPS = [
  [["Pin", "p", "pin"], ["No join", "x", "forbid"], ["Ends here", "s", "end"], ["Begins here", "a", "begin"]],
  [["Move", "m", "move"], ["Turn", "f", "flip"], ["Set aside", "t", "aside"], ["Blank", "b", "blank"], ["Gap", "g", "gap"]],
  [["Continues left", "<", "on-left"], ["Continues right", ">", "on-right"], ["Title", "r", "title"]],
  [["Mark", "k", "mark"], ["Together", "y", "together"], ["Apart", "v", "apart"]],
  [["Candidates right", "c", "candidates"], ["Candidates left", "Shift+c", "candidates-left"], ["Why", "w", "why"], ["Cannot tell", "d", "cannot-tell"], ["Note", "n", "note"]],
];

function toolbar(app) {
  const sheet = sheetOf(app);
  return h(
    "div",
    { class: "bar", role: "toolbar", "aria-label": "Actions" },
    h("h1", { dir: "auto" }, sheet.title || words.page(app.pageNumber + 1)),
    button("‹", "[", () => turn(app, -1), { id: "previous", "aria-label": "Previous page" }),
    button("›", "]", () => turn(app, 1), { id: "next", "aria-label": "Next page" }),
    GROUPS.map((group) => h("span", { class: "group" }, group.map(([label, key, action]) => (action === "pin" && pinned(app) ? button("Unpin", "u", () => ACTIONS.unpin(app), { id: "do-unpin" }) : button(action === "move" && lifted !== null ? "Put after this" : label, key, () => ACTIONS[action](app), { id: `do-${action}` }))))),
    h("span", { class: "grow" }),
    button("Whole and correct", "l", () => ACTIONS.done(app), { id: "do-done", class: "main" }),
  );
}

function describe(app, sheet, k) {
  const join = sheet.joins[k];
  return `${k + 1} of ${sheet.shreds.length}, ${idOf(app, sheet.shreds[k])}; ${tell(join)}`;
}

function tell(join) {
  if (!join) return "nothing is joined to the right";
  return `join to the right: ${join.by ? `decided by ${join.by}` : `${words.verdict[join.verdict]}, ${percent(join.probability)}`}`;
}

function list(app, sheet) {
  return h(
    "ul",
    { class: "shreds", role: "listbox", "aria-label": "Shreds from left to right" },
    sheet.shreds.map((index, k) => {
      const join = sheet.joins[k];
      const kind = join?.by ? "person" : join?.verdict;
      return h("li", { role: "option", id: `shred-${index}`, tabindex: index === selected(app) ? 0 : -1, "aria-selected": String(index === selected(app)), onclick: (event) => (event.ctrlKey || event.metaKey ? toggleMark(app, index) : select(app, index)) }, h("span", { class: "n" }, String(k + 1)), h("span", { class: "id", dir: "auto" }, idOf(app, index)), index === lifted ? h("em", {}, "picked up") : null, app.marked.has(index) ? h("em", { class: "mark" }, "marked") : null, app.state.flipped.includes(index) ? h("em", {}, "turned") : null, h("span", { class: "grow" }), h("span", { class: "hidden" }, `; ${tell(join)}`), join ? h("i", { class: kind, "aria-hidden": "true", title: percent(join.probability) }, words.sign[kind]) : h("i", { class: "end", "aria-hidden": "true" }, "⊣"));
    }),
  );
}

/** Two shreds and their neighbors around the tear between them, at the row where most is written. */
function pairPicture(app, left, right, at, why) {
  const canvas = h("canvas", { class: "closeup", "aria-hidden": "true" });
  const items = around(app, left, right, at);
  const draw = () => {
    const scale = 0.5;
    const corner = { scale, x: at.x - canvas.clientWidth / scale / 2, y: at.row - canvas.clientHeight / scale / 2 };
    drawStrips(canvas, items, corner, () => requestAnimationFrame(draw), { over: why ? (context, s) => tint(context, s, corner, at, why) : undefined });
  };
  requestAnimationFrame(draw);
  return canvas;
}

const FULL = 0.4; // nats of four rows that get the strongest tint

/** The paper itself along the tear: green where the rows of ink speak for the join, red where against it. */
function tintRows(context, scale, corner, tear, why, wide = 40) {
  const x = (tear - corner.x) * scale;
  const blank = [...why.products].sort((a, b) => a - b)[why.products.length >> 1] ?? 0; // most rows are blank paper
  why.products.forEach((product, k) => {
    const nats = product - blank;
    const strength = Math.min(0.75, (0.75 * Math.abs(nats)) / FULL);
    if (strength < 0.04) return;
    context.fillStyle = nats > 0 ? `rgba(0,140,60,${strength})` : `rgba(215,30,30,${strength})`;
    context.fillRect(x - wide * scale, (why.productTop + k * why.productRows - corner.y) * scale, 2 * wide * scale, Math.max(1, why.productRows * scale));
  });
}

/** Ink and outline at every shift: where their sum is highest, the right shred lies. */
function curve(why) {
  if (!why.shifts.length) return h("p", { class: "facts" }, "This scorer cannot say where its evidence comes from.");
  const canvas = h("canvas", { class: "curve", role: "img", "aria-label": "Ink and outline in nats against the offset of the right-hand shred" });
  requestAnimationFrame(() => {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    const ink = why.ink.length ? why.ink : why.shifts.map(() => 0);
    const outline = why.outline.length ? why.outline : why.shifts.map(() => 0);
    const sum = ink.map((nats, k) => nats + outline[k]);
    const all = [...ink, ...outline, ...sum, 0];
    const [low, high] = [Math.min(...all), Math.max(...all) + 0.5];
    const order = why.shifts.map((shift, k) => [shift, k]).sort((a, b) => a[0] - b[0]);
    const [first, last] = [order[0][0], order.at(-1)[0]];
    const px = (shift) => 8 * ratio + ((shift - first) / Math.max(1, last - first)) * (width - 16 * ratio);
    const py = (nats) => 6 * ratio + ((high - nats) / Math.max(1e-6, high - low)) * (height - 22 * ratio);
    const line = (values, color, wide) => {
      context.strokeStyle = color;
      context.lineWidth = wide * ratio;
      context.beginPath();
      order.forEach(([shift, k], n) => (n ? context.lineTo(px(shift), py(values[k])) : context.moveTo(px(shift), py(values[k]))));
      context.stroke();
    };
    line(why.shifts.map(() => 0), "#bbb", 1);
    if (why.ink.length) line(ink, "#1c6b43", 1.5);
    if (why.outline.length) line(outline, "#2b4d8f", 1.5);
    line(sum, "#22282b", 2.5);
    context.strokeStyle = "#a82c29";
    context.lineWidth = 1.5 * ratio;
    context.setLineDash([4 * ratio, 3 * ratio]);
    context.beginPath();
    context.moveTo(px(why.y), 0);
    context.lineTo(px(why.y), height - 16 * ratio);
    context.stroke();
    context.fillStyle = "#444";
    context.font = `${11 * ratio}px sans-serif`;
    context.fillText(`${first} px`, 4 * ratio, height - 4 * ratio);
    context.textAlign = "right";
    context.fillText(`${last} px`, width - 4 * ratio, height - 4 * ratio);
    context.textAlign = "center";
    context.fillText(`offset, now ${why.y} px`, width / 2, height - 4 * ratio);
  });
  return canvas;
}

/** The evidence of the join that is being explained, on the page itself. */
function explainOn(context, scale, items) {
  if (beside?.kind !== "why") return;
  const [left, right] = beside.pair.map((index) => items.find((item) => item.index === index));
  if (left && right) tintRows(context, scale, { x: 0, y: -left.y }, right.x, beside.data, 24);
}

const best = (values) => (values.length ? `${Math.max(...values).toFixed(1)} nats` : "–");

/** The rows on the paper; at its edges, where nothing is hidden: green where ink continues across the tear, red where
 * it stops (left), blue how far the outlines are apart (right). */
function tint(context, scale, corner, at, why) {
  tintRows(context, scale, corner, at.x, why, 14);
  const far = context.canvas.width;
  why.meets.forEach((meets, k) => {
    const y = (why.top + k * why.rows - corner.y) * scale;
    const tall = Math.max(1, why.rows * scale);
    if (meets) { context.fillStyle = "rgba(0,120,60,.75)"; context.fillRect(0, y, (meets / why.rows) * 36, tall); }
    if (why.ends[k]) { context.fillStyle = "rgba(190,30,30,.75)"; context.fillRect(38, y, (why.ends[k] / why.rows) * 36, tall); }
    context.fillStyle = "rgba(30,60,160,.6)";
    const wide = Math.min(40, why.gap[k] * 0.4);
    context.fillRect(far - wide, y, wide, tall);
  });
}

function side(app) {
  if (!beside) return null;
  const close = button("Close", "Escape", () => { beside = null; app.refresh(); }, { id: "close-beside" });
  if (beside.kind === "why") {
    const { pair, data } = beside;
    const total = (name) => data[name].reduce((sum, value) => sum + value, 0);
    const alternatives = beside.others.map((one) => h("li", {}, h("b", { dir: "auto" }, idOf(app, one.partner)), " ", h("span", { id: `price-${one.partner}` }, tellPrice(one.price))));
    return h("aside", { class: "beside", "aria-label": "Why" }, h("h2", {}, "Why"), pairPicture(app, pair[0], pair[1], data, data), h("p", { class: "facts" }, "On the tear: green rows support the join, red rows speak against it. Left edge: ink continues (green) or stops (red). Right edge: the gap between the outlines (blue)."), curve(data), h("p", { class: "facts" }, h("i", { class: "sure" }, "― ink"), " ", h("i", { class: "person" }, "― outline"), " ― together"), h("dl", {}, h("dt", {}, "ink, at best"), h("dd", {}, best(data.ink)), h("dt", {}, "outline, at best"), h("dd", {}, best(data.outline)), h("dt", {}, "ink continues"), h("dd", { class: "sure" }, `${total("meets")} rows`), h("dt", {}, "ink stops"), h("dd", { class: "open" }, `${total("ends")} rows`), h("dt", {}, "average gap between outlines"), h("dd", {}, `${(total("gap") / 10 / Math.max(1, data.gap.length)).toFixed(1)} px`), factsOf(app)), h("h3", {}, "Alternatives"), alternatives.length ? h("ul", { class: "alternatives" }, alternatives) : h("p", { class: "facts" }, "No other shred fits."), close);
  }
  const own = selected(app);
  return h(
    "aside",
    { class: "beside", "aria-label": "Candidates" },
    h("h2", {}, `To the ${beside.side} of ${idOf(app, own)}`),
    h("ol", { class: "candidates" }, beside.data.map((one) => {
      const pair = beside.side === "right" ? [own, one.partner] : [one.partner, own];
      return h("li", {}, h("button", { type: "button", class: "option", onclick: () => { beside = null; app.send("pin", [["join", pair]], { told: "Joined." }); } }, pairPicture(app, pair[0], pair[1], one, null), h("span", { class: "label" }, h("b", { dir: "auto" }, idOf(app, one.partner)), h("span", { class: "grow" }), percent(one.belief)), h("span", { class: "facts" }, `score ${one.score}, now on page ${one.page + 1}`), h("span", { class: "facts", id: `price-${one.partner}` }, tellPrice(one.price))));
    })),
    close,
  );
}

function factsOf(app) {
  const join = sheetOf(app).joins[place(app)];
  if (!join) return null;
  const rows = [["probability", percent(join.probability)], ["score", join.score ?? "–"], ["price (extra cost without it)", join.price === null ? "–" : `${join.price} nats`], ["decided by", join.by ?? "the machine"]];
  return rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]);
}

function paint(app, canvas, overlay) {
  const sheet = sheetOf(app);
  const { parts, width } = partsOf(app.info, app.state, sheet);
  const height = Math.max(sizeOf(app.info, sheet)[1], ...parts.map((part) => sizeOf(app.info, part.page)[1]));
  const box = canvas.parentElement;
  const fit = Math.min((box.clientWidth - 24) / width, (box.clientHeight - 40) / height);
  const scale = zoom ?? fit;
  canvas.style.width = `${Math.round(width * scale)}px`;
  canvas.style.height = `${Math.round(height * scale)}px`;
  overlay.style.width = canvas.style.width;
  view = { x: 0, y: 0, scale };
  const items = itemsOf(app.info, app.state, sheet).map((item) => ({ ...item, dim: item.index === lifted || (solo && item.index !== selected(app)) }));
  for (const part of parts) items.push(...itemsOf(app.info, app.state, part.page).map((item) => ({ ...item, x: item.x + part.x })));
  if (drag?.moved) Object.assign(items.find((item) => item.index === drag.index) ?? {}, { dim: true });
  drawStrips(canvas, items, view, () => requestAnimationFrame(() => canvas.isConnected && paint(app, canvas, overlay)), { over: (context, s) => { explainOn(context, s, items); parts.forEach((part) => hatch(context, s, part)); mark(app, context, s, items); } });
  place_signs(app, overlay, sheet, scale);
}

/** Missing paper: hatched, with its width. */
function hatch(context, scale, { x, wide, mm }) {
  const [left, width, { height }] = [(x - wide) * scale, wide * scale, context.canvas];
  context.save();
  context.beginPath();
  context.rect(left, 0, width, height);
  context.clip();
  context.fillStyle = "#efece4";
  context.fillRect(left, 0, width, height);
  context.strokeStyle = "#a99f8a";
  context.lineWidth = 1;
  for (let y = -width; y < height; y += 10) {
    context.beginPath();
    context.moveTo(left, y + width);
    context.lineTo(left + width, y);
    context.stroke();
  }
  context.restore();
  context.fillStyle = "#5c4300";
  context.font = `${13 * (devicePixelRatio || 1)}px sans-serif`;
  context.textAlign = "center";
  context.fillText(`${mm} mm`, left + width / 2, 18 * (devicePixelRatio || 1));
}

function mark(app, context, scale, items) {
  const at = items.find((item) => item.index === selected(app));
  const { width, height } = app.info.shreds[at.index];
  context.strokeStyle = "#2f5d62";
  context.lineWidth = 2 * (devicePixelRatio || 1);
  context.strokeRect(at.x * scale, at.y * scale, width * scale, height * scale);
  if (drag?.moved) {
    context.fillStyle = "#b0413e";
    context.fillRect(drag.line * scale - 2, 0, 4, context.canvas.height);
  }
}

function place_signs(app, overlay, sheet, scale) {
  if (!signs) return overlay.replaceChildren();
  const blanks = new Set(Object.values(app.state.blanks));
  return overlay.replaceChildren(
    ...sheet.joins.map((join, k) => {
      const kind = join.by ? "person" : join.verdict;
      const mark_ = h("button", { type: "button", class: `sign ${kind}`, tabindex: -1, title: `${idOf(app, sheet.shreds[k])} → ${idOf(app, sheet.shreds[k + 1])}: ${join.by ? `decided by ${join.by}` : percent(join.probability)}`, "aria-label": describe(app, sheet, k), onclick: () => select(app, sheet.shreds[k]) }, blanks.has(sheet.shreds[k]) ? "▯" : words.sign[kind]);
      mark_.style.left = `${sheet.x[k + 1] * scale}px`;
      return mark_;
    }),
  );
}

function nearest(sheet, x) {
  return sheet.shreds[Math.max(0, sheet.x.findLastIndex((left) => left <= x))];
}

/** Which shred lies under a point, and where one dropped there would go. */
function hit(app, event, canvas) {
  const rect = canvas.getBoundingClientRect();
  const x = (event.clientX - rect.left) / view.scale;
  const sheet = sheetOf(app);
  const part = partsOf(app.info, app.state, sheet).parts.findLast((one) => one.x <= x);
  if (part) return { index: nearest(part.page, x - part.x), slot: -1, x };
  let k = 0;
  sheet.x.forEach((left, i) => { if (left <= x) k = i; });
  const index = sheet.shreds[k];
  const middle = sheet.x[k] + app.info.shreds[index].width / 2;
  return { index, slot: x < middle ? k : k + 1, x };
}

function listen(app, canvas, redraw) {
  canvas.addEventListener("pointerdown", (event) => {
    drag = { ...hit(app, event, canvas), start: event.clientX, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag || (!drag.moved && Math.abs(event.clientX - drag.start) < 8)) return;
    const found = hit(app, event, canvas);
    const sheet = sheetOf(app);
    drag = { ...drag, moved: true, slot: found.slot, line: sheet.x[found.slot] ?? (found.slot < 0 ? -9 : sizeOf(app.info, sheet)[0]) };
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (!done) return;
    const sheet = sheetOf(app);
    if (!done.moved) return sheet.shreds.includes(done.index) ? select(app, done.index) : app.openShred(done.index);
    if (done.slot < 0 || !sheet.shreds.includes(done.index)) return redraw();
    const from = sheet.shreds.indexOf(done.index);
    if (done.slot === from || done.slot === from + 1) return redraw();
    if (done.slot === 0) return putFirst(app, done.index, sheet.shreds[0]);
    return put(app, done.index, sheet.shreds[done.slot - 1]);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; redraw(); });
}

export const page = {
  show(app, main) {
    const sheet = sheetOf(app);
    app.opened(sheet);
    if (app.shred === null) app.shred = sheet.shreds[0];
    if (app.whyPair) {
      const pair = app.whyPair;
      app.whyPair = null;
      app.shred = pair[0];
      get(`/api/joins/${pair[0]}/${pair[1]}/why`).then((data) => { beside = { kind: "why", side: "right", pair, data, others: [] }; app.refresh(); });
    }
    const canvas = h("canvas", { class: "paper", "aria-label": `${words.page(app.pageNumber + 1)}; the list beside it names its shreds`, role: "img" });
    const overlay = h("div", { class: "signs" });
    const scroll = main.querySelector(".desk");
    const kept = scroll ? [scroll.scrollLeft, scroll.scrollTop] : null;
    const desk = h("div", { class: "desk", tabindex: 0, "aria-label": "The page", role: "group" }, overlay, canvas);
    const zoomBar = h("div", { class: "bar low" }, button("−", "-", () => ACTIONS.smaller(app), { id: "smaller", "aria-label": "Smaller" }), button("+", "+", () => ACTIONS.larger(app), { id: "larger", "aria-label": "Larger" }), button("Fit", "0", () => ACTIONS.fit(app), { id: "fit" }), button("1:1", "z", () => ACTIONS.real(app), { id: "real" }), button("Signs", "h", () => ACTIONS.signs(app), { id: "signs", "aria-pressed": String(signs) }), button("Alone", "i", () => ACTIONS.solo(app), { id: "solo", "aria-pressed": String(solo) }), h("span", { class: "group" }, button("⇈", "", () => shift(app, -10), { id: "up-10", title: "Alt+Shift+↑", "aria-keyshortcuts": "Alt+Shift+ArrowUp", "aria-label": "Right-hand shred 10 px up" }), button("⇊", "", () => shift(app, 10), { id: "down-10", title: "Alt+Shift+↓", "aria-keyshortcuts": "Alt+Shift+ArrowDown", "aria-label": "Right-hand shred 10 px down" }), button("↑", "", () => shift(app, -1), { id: "up-1", title: "Alt+↑", "aria-keyshortcuts": "Alt+ArrowUp", "aria-label": "Right-hand shred 1 px up" }), button("↓", "", () => shift(app, 1), { id: "down-1", title: "Alt+↓", "aria-keyshortcuts": "Alt+ArrowDown", "aria-label": "Right-hand shred 1 px down" })), h("span", { class: "grow" }), h("span", { class: "facts" }, describe(app, sheet, place(app))));
    fill(main, toolbar(app), h("div", { class: "table" }, desk, side(app) ?? list(app, sheet)), zoomBar);
    if (kept) desk.scrollTo(...kept);
    const redraw = () => canvas.isConnected && paint(app, canvas, overlay);
    listen(app, canvas, redraw);
    redraw();
  },
  back(app) {
    if (lifted !== null || beside) {
      lifted = null;
      beside = null;
      app.refresh();
      return true;
    }
    return false;
  },
  leave() {
    beside = null;
    zoom = null;
  },
  enter(app) {
    document.getElementById(`shred-${selected(app)}`)?.focus({ preventScroll: true });
  },
  actions: ACTIONS,
};
