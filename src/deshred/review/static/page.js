// One page: the paper in the middle, its joins above it, the selected shred's facts and candidates beside it.

import { get } from "./api.js";
import { button, fill, h } from "./dom.js";
import { ask } from "./overview.js";
import { drawStrips, itemsOf, sizeOf } from "./pictures.js";
import { percent, words } from "./words.js";

let zoom = null; // null: fit
let signs = true;
let solo = false;
let lifted = null; // a shred that is being moved
let drag = null;
let beside = null; // {kind: "candidates" | "why", key, data}
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
  app.send("move", statements, { told: `${idOf(app, moved)} now stands right of ${idOf(app, after)}.` });
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

async function show(app, kind) {
  const index = selected(app);
  if (kind === "candidates") {
    const side = following(app) === undefined || app.side !== "left" ? "right" : "left";
    beside = { kind, side, data: (await get(`/api/edges/${index}/${side}`)).candidates };
  } else {
    const right = following(app);
    if (right === undefined) return app.tell("There is no join to the right of this shred.");
    beside = { kind, pair: [index, right], data: await get(`/api/joins/${index}/${right}`) };
  }
  app.refresh();
  document.querySelector(".beside button")?.focus();
  return undefined;
}

function pinned(app) {
  return sheetOf(app).joins[place(app)]?.by;
}

const ACTIONS = {
  left: (app) => step(app, -1),
  right: (app) => step(app, 1),
  pin: (app) => needsJoin(app, (a, b) => app.send("pin", [["join", [a, b]]], { told: "Pinned." })),
  unpin: (app) => needsJoin(app, (a, b) => app.send("unpin", [], { unsay: [["join", [a, b]]], told: "Let go." })),
  forbid: (app) => needsJoin(app, (a, b) => app.send("forbid", [["no-join", [a, b]]], { told: "These two are not joined." })),
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
  why: (app) => show(app, "why"),
  flip: (app) => app.state.flipped.includes(selected(app)) ? app.send("turn-back", [], { unsay: [["flipped", [selected(app)]]] }) : app.send("flip", [["flipped", [selected(app)]]], { told: "Turned upside down." }),
  aside: (app) => app.send("aside", [["aside", [selected(app)]]], { told: "Set aside; it is in the trays." }),
  gap: (app) => needsJoin(app, (a, b) => ask(app, "How much is missing here, in mm?", "7", (text) => /^\d+$/.test(text) && app.send("gap", [["gap", [a, b], text]], { told: "Noted: something is missing here." }))),
  blank: (app) => {
    const free = app.info.shreds.map((_, index) => index).slice(app.info.inked).find((index) => app.state.blanks[String(index)] === undefined);
    if (free === undefined) return app.tell("No blank shred is left.");
    return app.send("blank", [["blank", [free, selected(app)]]], { told: `${idOf(app, free)} stands right of this shred.` });
  },
  "cannot-tell": (app) => needsJoin(app, (a, b) => app.send("cannot-tell", [["cannot-tell", [a, b]]], { told: "Noted: cannot tell." })),
  note: (app) => ask(app, "Note on this shred", "", (text) => text && app.send("note", [["note", [selected(app)], text]], { told: "Noted." })),
  done: (app) => app.send("done", [["done", sheetOf(app).shreds]], { told: "Page is done: all its joins and both ends are pinned." }),
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
  [["Candidates", "c", "candidates"], ["Why", "w", "why"], ["Cannot tell", "d", "cannot-tell"], ["Note", "n", "note"]],
];

function toolbar(app) {
  const sheet = sheetOf(app);
  return h(
    "div",
    { class: "bar", role: "toolbar", "aria-label": "Actions" },
    h("h1", { dir: "auto" }, sheet.title || words.page(app.pageNumber + 1)),
    button("‹", "[", () => turn(app, -1), { id: "previous", "aria-label": "Page before" }),
    button("›", "]", () => turn(app, 1), { id: "next", "aria-label": "Page after" }),
    GROUPS.map((group) => h("span", { class: "group" }, group.map(([label, key, action]) => (action === "pin" && pinned(app) ? button("Let go", "u", () => ACTIONS.unpin(app), { id: "do-unpin" }) : button(action === "move" && lifted !== null ? "Put after this" : label, key, () => ACTIONS[action](app), { id: `do-${action}` }))))),
    h("span", { class: "grow" }),
    button("Page is right", "l", () => ACTIONS.done(app), { id: "do-done", class: "main" }),
  );
}

function describe(app, sheet, k) {
  const join = sheet.joins[k];
  return `${k + 1} of ${sheet.shreds.length}, ${idOf(app, sheet.shreds[k])}; ${tell(join)}`;
}

function tell(join) {
  if (!join) return "the page ends here";
  return `join to the right: ${join.by ? `decided by ${join.by}` : `${words.verdict[join.verdict]}, ${percent(join.probability)}`}`;
}

function list(app, sheet) {
  return h(
    "ul",
    { class: "shreds", role: "listbox", "aria-label": "Shreds from left to right" },
    sheet.shreds.map((index, k) => {
      const join = sheet.joins[k];
      const kind = join?.by ? "person" : join?.verdict;
      return h("li", { role: "option", id: `shred-${index}`, tabindex: index === selected(app) ? 0 : -1, "aria-selected": String(index === selected(app)), onclick: () => select(app, index) }, h("span", { class: "n" }, String(k + 1)), h("span", { class: "id", dir: "auto" }, idOf(app, index)), index === lifted ? h("em", {}, "picked up") : null, h("span", { class: "grow" }), h("span", { class: "hidden" }, `; ${tell(join)}`), join ? h("i", { class: kind, "aria-hidden": "true", title: percent(join.probability) }, words.sign[kind]) : h("i", { class: "end", "aria-hidden": "true" }, "⊣"));
    }),
  );
}

function pairPicture(app, left, right, at, why) {
  const canvas = h("canvas", { class: "closeup", "aria-hidden": "true" });
  const info = app.info.shreds;
  const items = [{ index: left, x: 0, y: 0, width: info[left].width }, { index: right, x: at.x, y: at.y, width: info[right].width }];
  const draw = () => {
    const scale = why ? Math.min(canvas.clientHeight / info[left].height, 0.5) : 0.4;
    const top = why ? 0 : Math.max(0, info[left].height / 2 - canvas.clientHeight / scale / 2);
    const corner = { scale, x: at.x - canvas.clientWidth / scale / 2, y: top };
    drawStrips(canvas, items, corner, () => requestAnimationFrame(draw), { over: why ? (context, s) => tint(context, s, corner, at, why) : undefined });
  };
  requestAnimationFrame(draw);
  return canvas;
}

/** Green where ink goes on across the tear, red where it stops: bars left and right of it. */
function tint(context, scale, corner, at, why) {
  const x = (at.x - corner.x) * scale;
  why.meets.forEach((meets, k) => {
    const y = (why.top + k * why.rows - corner.y) * scale;
    const tall = Math.max(1, why.rows * scale);
    if (meets) { context.fillStyle = "rgba(0,120,60,.75)"; context.fillRect(x - 46, y, (meets / why.rows) * 40, tall); }
    if (why.ends[k]) { context.fillStyle = "rgba(190,30,30,.75)"; context.fillRect(x + 8, y, (why.ends[k] / why.rows) * 40, tall); }
    context.fillStyle = "rgba(30,60,160,.6)";
    context.fillRect(x + 52, y, Math.min(40, why.gap[k] * 0.4), tall);
  });
}

function side(app) {
  if (!beside) return null;
  const close = button("Close", "Escape", () => { beside = null; app.refresh(); }, { id: "close-beside" });
  if (beside.kind === "why") {
    const { pair, data } = beside;
    const total = (name) => data[name].reduce((sum, value) => sum + value, 0);
    return h("aside", { class: "beside", "aria-label": "Why" }, h("h2", {}, "Why"), pairPicture(app, pair[0], pair[1], data, data), h("dl", {}, h("dt", {}, "ink goes on"), h("dd", { class: "sure" }, `${total("meets")} rows`), h("dt", {}, "ink stops"), h("dd", { class: "open" }, `${total("ends")} rows`), h("dt", {}, "outline, mean misfit"), h("dd", {}, `${(total("gap") / 10 / Math.max(1, data.gap.length)).toFixed(1)} px`), factsOf(app)), close);
  }
  const own = selected(app);
  return h(
    "aside",
    { class: "beside", "aria-label": "Candidates" },
    h("h2", {}, `To the ${beside.side} of ${idOf(app, own)}`),
    h("ol", { class: "candidates" }, beside.data.map((one) => {
      const pair = beside.side === "right" ? [own, one.partner] : [one.partner, own];
      return h("li", {}, h("button", { type: "button", class: "option", onclick: () => { beside = null; app.send("pin", [["join", pair]], { told: "Joined." }); } }, pairPicture(app, pair[0], pair[1], one, null), h("span", { class: "label" }, h("b", { dir: "auto" }, idOf(app, one.partner)), h("span", { class: "grow" }), percent(one.belief)), h("span", { class: "facts" }, `score ${one.score}, now on page ${one.page + 1}`)));
    })),
    close,
  );
}

function factsOf(app) {
  const join = sheetOf(app).joins[place(app)];
  if (!join) return null;
  const rows = [["probability", percent(join.probability)], ["score", join.score ?? "–"], ["dearer without it", join.price === null ? "–" : `${join.price} nats`], ["decided by", join.by ?? "the machine"]];
  return rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]);
}

function paint(app, canvas, overlay) {
  const sheet = sheetOf(app);
  const [width, height] = sizeOf(app.info, sheet);
  const box = canvas.parentElement;
  const fit = Math.min((box.clientWidth - 24) / width, (box.clientHeight - 40) / height);
  const scale = zoom ?? fit;
  canvas.style.width = `${Math.round(width * scale)}px`;
  canvas.style.height = `${Math.round(height * scale)}px`;
  overlay.style.width = canvas.style.width;
  view = { x: 0, y: 0, scale };
  const items = itemsOf(app.info, app.state, sheet).map((item) => ({ ...item, dim: item.index === lifted || (solo && item.index !== selected(app)) }));
  if (drag?.moved) Object.assign(items.find((item) => item.index === drag.index) ?? {}, { dim: true });
  drawStrips(canvas, items, view, () => requestAnimationFrame(() => canvas.isConnected && paint(app, canvas, overlay)), { over: (context, s) => mark(app, context, s, items) });
  place_signs(app, overlay, sheet, scale);
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

/** Which shred lies under a point, and where one dropped there would go. */
function hit(app, event, canvas) {
  const rect = canvas.getBoundingClientRect();
  const x = (event.clientX - rect.left) / view.scale;
  const sheet = sheetOf(app);
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
    drag = { ...drag, moved: true, slot: found.slot, line: sheet.x[found.slot] ?? sizeOf(app.info, sheet)[0] };
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (!done) return;
    if (!done.moved) return select(app, done.index);
    const sheet = sheetOf(app);
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
    if (app.shred === null) app.shred = sheet.shreds[0];
    if (app.whyPair) {
      const pair = app.whyPair;
      app.whyPair = null;
      app.shred = pair[0];
      get(`/api/joins/${pair[0]}/${pair[1]}`).then((data) => { beside = { kind: "why", pair, data }; app.refresh(); });
    }
    const canvas = h("canvas", { class: "paper", "aria-label": `${words.page(app.pageNumber + 1)}; the list beside it names its shreds`, role: "img" });
    const overlay = h("div", { class: "signs" });
    const scroll = main.querySelector(".desk");
    const kept = scroll ? [scroll.scrollLeft, scroll.scrollTop] : null;
    const desk = h("div", { class: "desk", tabindex: 0, "aria-label": "The page", role: "group" }, overlay, canvas);
    const zoomBar = h("div", { class: "bar low" }, button("−", "-", () => ACTIONS.smaller(app), { id: "smaller", "aria-label": "Smaller" }), button("+", "+", () => ACTIONS.larger(app), { id: "larger", "aria-label": "Larger" }), button("Fit", "0", () => ACTIONS.fit(app), { id: "fit" }), button("1:1", "z", () => ACTIONS.real(app), { id: "real" }), button("Signs", "h", () => ACTIONS.signs(app), { id: "signs", "aria-pressed": String(signs) }), button("Alone", "i", () => ACTIONS.solo(app), { id: "solo", "aria-pressed": String(solo) }), h("span", { class: "group" }, button("↑", "", () => shift(app, -1), { id: "up-1", title: "Alt+↑", "aria-keyshortcuts": "Alt+ArrowUp", "aria-label": "Right-hand shred 1 px up" }), button("↓", "", () => shift(app, 1), { id: "down-1", title: "Alt+↓", "aria-keyshortcuts": "Alt+ArrowDown", "aria-label": "Right-hand shred 1 px down" })), h("span", { class: "grow" }), h("span", { class: "facts" }, describe(app, sheet, place(app))));
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
