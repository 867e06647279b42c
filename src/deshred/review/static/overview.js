// All pages as thumbnails, those that a look would help most first.

import { button, fill, h } from "./dom.js";
import { drawThumb } from "./pictures.js";
import { count, words } from "./words.js";

let sort = "value";
let chosen = 0; // place in the list shown
const STEP = 100; // pages that are drawn at once
let most = STEP;

const SORTS = { value: "Most in need of a look", number: "Number", width: "Width" };

function ordered(app) {
  const list = app.state.pages.map((one, number) => ({ ...one, number }));
  if (sort === "value") list.sort((a, b) => (a.state === "done") - (b.state === "done") || b.questions - a.questions || a.number - b.number);
  if (sort === "width") list.sort((a, b) => (a.mm ?? 0) - (b.mm ?? 0));
  return list;
}

function card(app, one, place) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const redraw = () => drawThumb(canvas, app.info, one, redraw, app.state.flipped);
  redraw();
  const open = one.joins.filter((join) => join.verdict !== "sure" && !join.by).length;
  const width = one.mm === null ? "" : app.info.paperMm ? `${one.mm} of ${Math.round(app.info.paperMm)} mm` : `${one.mm} mm`;
  const follows = one.gap ? `then ${one.gap.mm} mm missing and page ${one.gap.page + 1}` : "";
  const facts = [count(one.shreds.length, "shred"), width, follows].filter(Boolean).join(", ");
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", id: `page-${one.number}`, class: `card state-${one.state}`, tabindex: place === chosen ? 0 : -1, onclick: () => { app.pageNumber = one.number; app.shred = null; app.go("page"); }, onfocus: () => (chosen = place) },
      h("span", { class: "frame" }, canvas),
      h("b", { dir: "auto" }, one.title || words.page(one.number + 1), app.isChanged(one) ? h("em", { class: "changed" }, " changed") : null),
      h("span", { class: "facts" }, facts),
      h("span", { class: "facts" }, one.questions ? h("i", { class: "open" }, `▲ ${count(one.questions, "question")}`) : one.state === "done" ? h("i", { class: "person" }, "■ done") : h("i", { class: "sure" }, open ? `◆ ${open} likely` : "● sure")),
    ),
  );
}

function focus(app, place) {
  const list = ordered(app);
  chosen = Math.max(0, Math.min(list.length - 1, place));
  while (chosen >= most) most += STEP;
  app.refresh();
  document.getElementById(`page-${list[chosen].number}`)?.focus();
}

function columns() {
  const items = [...document.querySelectorAll(".pages > li")];
  return Math.max(1, items.filter((item) => item.offsetTop === items[0].offsetTop).length);
}

function current(app) {
  return ordered(app)[chosen];
}

export const overview = {
  show(app, main) {
    const list = ordered(app);
    fill(
      main,
      h("div", { class: "bar" }, h("h1", {}, "Pages"), h("label", {}, "Sort by ", h("select", { id: "sort", onchange: (event) => { sort = event.target.value; chosen = 0; app.refresh(); } }, Object.entries(SORTS).map(([value, label]) => h("option", { value, selected: value === sort }, label)))), h("span", { class: "grow" }), app.state.outlook.questions ? button("Answer questions", "Alt+2", () => app.go("questions"), { id: "start", class: "main" }) : null),
      h("ul", { class: "pages", "aria-label": "Pages" }, list.slice(0, most).map((one, place) => card(app, one, place))),
      list.length > most ? h("p", { class: "row" }, button(`${count(list.length - most, "page")} more`, "PageDown", () => this.actions.more(app), { id: "a-more" })) : null,
      h("div", { class: "bar actions" }, button("Whole and correct", "l", () => this.actions.done(app), { id: "a-done" }), button("Continues on the left", "[", () => this.actions["on-left"](app), { id: "a-left" }), button("Continues on the right", "]", () => this.actions["on-right"](app), { id: "a-right" }), button("Title", "r", () => this.actions.title(app), { id: "a-title" })),
    );
  },
  enter(app) {
    const list = ordered(app);
    chosen = Math.max(0, list.findIndex((one) => one.number === app.pageNumber));
    if (app.state.events === 0) chosen = 0;
    focus(app, chosen);
  },
  actions: {
    left: (app) => focus(app, chosen - 1),
    right: (app) => focus(app, chosen + 1),
    up: (app) => focus(app, chosen - columns()),
    down: (app) => focus(app, chosen + columns()),
    more: (app) => focus(app, most < app.state.pages.length ? most : chosen),
    open: (app) => { app.pageNumber = current(app).number; app.shred = null; app.go("page"); },
    done: (app) => app.send("done", [["done", current(app).shreds]], { told: "Done: all joins and both ends of this page are pinned." }),
    "on-left": (app) => app.send("goes-on", [["not-first", [current(app).shreds[0]]]], { told: "Noted: the page continues on the left." }),
    "on-right": (app) => app.send("goes-on", [["not-last", [current(app).shreds.at(-1)]]], { told: "Noted: the page continues on the right." }),
    title: (app) => ask(app, "Title of this page", current(app).title, (text) => app.send("title", [["title", [current(app).shreds[0]], text]])),
  },
};

export function ask(app, label, value, then) {
  const input = h("input", { id: "asked", value, maxlength: 200, "aria-label": label });
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); box.close(); then(input.value.trim()); } }, input, " ", h("button", { class: "main" }, "Keep"));
  const box = app.dialog(label, form);
  input.select();
}
